#include "espalier/onnx/emitter.h"

#include <fmt/format.h>

namespace espalier::onnx {
namespace {

template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

std::string Constants::add(std::string_view kind, ElementType type, const std::vector<std::int64_t>& shape,
                           const std::string& raw) {
  const auto [place, is_new] = names_.try_emplace(std::string(kind) + raw);
  if (is_new) {
    place->second = fmt::format("constant.{}", tensors_.size());
    tensors_.push_back(tensor(place->second, type, shape, raw));
  }
  return place->second;
}

std::string Constants::ints(const std::vector<std::int64_t>& values) {
  return add("list", ElementType::kInt64, {static_cast<std::int64_t>(values.size())}, raw_bytes(values));
}
std::string Constants::int_scalar(std::int64_t value) {
  return add("int", ElementType::kInt64, {}, raw_bytes(std::vector{value}));
}
std::string Constants::number(float value) {
  return add("number", ElementType::kFloat, {}, raw_bytes(std::vector{value}));
}

void Emitter::op_to(const Names& outputs, std::string_view type, const Names& inputs, const Names& attributes) {
  data::ProtoWriter node;
  for (const std::string& input : inputs) node.bytes(1, input);
  for (const std::string& output : outputs) node.bytes(2, output);
  node.bytes(3, fmt::format("{}{}.{}", prefix_, type, nodes_.size())).bytes(4, type);
  for (const std::string& each : attributes) node.bytes(5, each);
  nodes_.push_back(node.finish());
}

std::string Emitter::op(std::string_view type, const Names& inputs, const Names& attributes) {
  std::string name = fmt::format("{}{}", prefix_, made_++);
  op_to({name}, type, inputs, attributes);
  return name;
}

std::string Emitter::reshape(const std::string& x, const Shape& from, const Shape& to) {
  if (from == to) return x;
  std::vector<std::int64_t> dims{0};  // as it is in x
  for (std::int32_t a = 0; a < to.rank(); ++a) dims.push_back(to[a]);
  return op("Reshape", {x, ints(dims)});
}

std::string Emitter::slice(const std::string& x, std::int64_t begin, std::int64_t end, std::int64_t axis) {
  return op("Slice", {x, ints({begin}), ints({end}), ints({axis})});
}

std::string Emitter::reduce(std::string_view type, const std::string& x, const std::vector<std::int64_t>& axes,
                            bool keep) {
  return op(type, {x, ints(axes)}, {attribute("keepdims", std::int64_t{keep ? 1 : 0})});
}

std::string Emitter::concat(const Names& x, std::int64_t axis) {
  return x.size() == 1 ? x[0] : op("Concat", x, {attribute("axis", axis)});
}

}  // namespace espalier::onnx
