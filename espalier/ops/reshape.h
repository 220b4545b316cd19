#pragma once

#include <string>
#include <string_view>

#include "espalier/base/export.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Reshape {
  static constexpr std::string_view kName = "reshape";
  static constexpr std::string_view kContract = "y = x in another shape, in row-major order";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  struct Attrs {
    Shape shape;
    bool operator==(const Attrs&) const = default;
  };
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    if (in["x"].elements() != attrs.shape.elements())
      in.refuse("x " + in["x"].to_string() + " has " + std::to_string(in["x"].elements()) + " elements and " +
                attrs.shape.to_string() + " has " + std::to_string(attrs.shape.elements()));
    return attrs.shape;
  }
  static std::int64_t view(const Attrs&, const InputShapes&) { return 0; }
  template <class T>
  static void plain(const Attrs&, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][i];
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    const auto width = static_cast<std::size_t>(out.y.width);
    for (std::int64_t r = 0; r < in.rows; ++r) kernels::copy({in[0][r], width}, {out.y[r], width});
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r) grads[0].add(r, saved.dy[r]);
  }
  static Samples samples() {
    return {gives<Reshape>({Tensor({2, 3}, {1, 2, 3, 4, 5, 6})}, Tensor({3, 2}, {1, 2, 3, 4, 5, 6}), {{3, 2}}),
            works_on<Reshape>({{12}}, {{3, 2, 2}}), works_on<Reshape>({{}}, {{1, 1}}),
            works_on<Reshape>({{1, 1, 1, 1}}, {{}}), works_on<Reshape>({{5, 3}}, {{15}})};
  }
  static Refusals refusals() {
    return {refuses<Reshape>({{2, 3}}, "reshape: x [2, 3] has 6 elements and [4] has 4", {{4}}),
            refuses<Reshape>({{0}}, "reshape: x [0] has 0 elements and [] has 1", {{}})};
  }
};

/// Refuses (ResourceError), in the name of `what`, an operand with more elements than one axis can have.
ESPALIER_EXPORT void require_few_elements(std::string_view what, const Operand& x);

}  // namespace ops

/// The same elements, in row-major order, in another shape.
inline Expr reshape(Operand x, const Shape& shape) { return ops::record<ops::Reshape>({x}, {shape}); }
namespace ops {

/// flatten() in the name of `what`.
inline Expr flatten_for(std::string_view what, const Operand& x) {
  find_graph(info_of<Reshape>(), std::span<const Operand>(&x, 1));  // refuses a stale operand by name
  if (x.parameter() == nullptr && x.shape().rank() == 1) return x.expr();
  require_few_elements(what, x);
  return reshape(x, {x.shape().elements()});
}

}  // namespace ops

/// All elements as one vector.
inline Expr flatten(Operand x) { return ops::flatten_for("flatten", x); }

}  // namespace espalier
