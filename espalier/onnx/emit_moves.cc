/// The ONNX forms of ops that move elements, and of those that only name rows.
#include <array>

#include "espalier/onnx/emissions.h"
#include "espalier/onnx/use-inl.h"
#include "espalier/ops/all.h"

namespace espalier::onnx {
namespace {

Names names_of(const Use& use) {
  Names names;
  for (const Given& x : use.x) names.push_back(x.name);
  return names;
}

std::string concat(Emitter& to, const Use& use) {
  return to.concat(names_of(use), 1 + use.attrs_as<ops::AxisAttrs>().axis);
}
std::string stack(Emitter& to, const Use& use) {
  const std::int32_t axis = use.attrs_as<ops::AxisAttrs>().axis;
  Names parts;
  for (const Given& x : use.x) parts.push_back(to.reshape(x.name, x.shape, x.shape.inserted(axis, 1)));
  return to.concat(parts, 1 + axis);
}
/// Rows are one after the other in memory.
std::string join_rows(Emitter& to, const Use& use) {
  Names parts;
  for (const Given& x : use.x) parts.push_back(to.flat(x.name, x.shape));
  return to.reshape(to.concat(parts, 1), Shape{use.y.elements()}, use.y);
}
std::string slice(Emitter& to, const Use& use) {
  const auto attrs = use.attrs_as<ops::Slice::Attrs>();
  return to.slice(use.x[0].name, attrs.begin, attrs.end, 1 + attrs.axis);
}
std::string reshape(Emitter& to, const Use& use) { return to.reshape(use.x[0].name, use.x[0].shape, use.y); }
std::string transpose(Emitter& to, const Use& use) {
  const auto attrs = use.attrs_as<ops::TransposeAttrs>();
  std::vector<std::int64_t> axes{0};
  for (std::int32_t a = 0; a < attrs.rank; ++a) axes.push_back(1 + attrs.axes[static_cast<std::size_t>(a)]);
  return to.op("Transpose", {use.x[0].name}, {attribute("perm", axes)});
}
std::string broadcast(Emitter& to, const Use& use) {
  std::vector<std::int64_t> dims{1};
  Shape ones;
  for (std::int32_t a = 0; a < use.y.rank(); ++a) {
    dims.push_back(use.y[a]);
    ones = ones.inserted(a, 1);
  }
  return to.op("Expand", {to.reshape(use.x[0].name, Shape{}, ones), to.ints(dims)});
}

constexpr auto kRowOfAnother = Emission::Form::kRow;

}  // namespace

std::span<const Emission> move_emissions() {
  static constexpr std::array kEmissions{
      Emission{"concat", kWritten, concat},
      Emission{"stack", kWritten, stack},
      Emission{"join_rows", kWritten, join_rows},
      Emission{"slice", kWritten, slice},
      Emission{"reshape", kWritten, reshape},
      Emission{"transpose", kWritten, transpose},
      Emission{"broadcast", kWritten, broadcast},
      Emission{"input", kRowOfAnother},
      Emission{"parameter", kRowOfAnother},
      Emission{"lookup", kRowOfAnother, nullptr, Field::kIndex},
      Emission{"row", kRowOfAnother},
      Emission{"gather_rows", kRowOfAnother},
      Emission{"first_rows", kRowOfAnother},
      Emission{"dropout", Emission::Form::kRefused, nullptr, Field::kNone,
               "it draws random numbers; record the samples outside of training"},
  };
  return kEmissions;
}

}  // namespace espalier::onnx
