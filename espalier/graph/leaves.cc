// Leaves of a graph: data and parameters, and what is made from parameters alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/limits.h"
#include "espalier/graph/shared_names.h"

namespace espalier {

Expr Recorder::add_leaf_data(const LeafAttrs& attrs, const void* data, SourceLine where) {
  static const OpInfo& info = op_info(find_op("input"));
  const InputFields fields{data};
  NewestLeaf& newest = newest_leaves_[static_cast<std::size_t>(attrs.shape.elements()) % newest_leaves_.size()];
  if (newest.epoch == epoch_ && newest.attrs == attrs) return expr(record_like(newest.node, &fields, {}, where));
  const Expr leaf = record_leaf(info, &attrs, &fields, where);
  newest = {leaf.node(), epoch_, attrs};
  return leaf;
}

Expr Graph::input(const Tensor& tensor, const char* file, std::int32_t line) {
  const SourceLine where{file, line};
  if (tensor.dtype() == DType::kInt32)
    throw UsageError(fmt::format("input: a node holds float32 or float64, not int32\n  at {}", where.to_string()));
  std::byte* data = leaf_data_.allocate(tensor.bytes());
  std::memcpy(data, tensor.data(), tensor.bytes());
  return add_leaf_data({tensor.dtype(), tensor.shape()}, data, where);
}

Expr Graph::input(const Shape& shape, std::span<const float> values, const char* file, std::int32_t line) {
  if (options_.dtype == DType::kFloat64) return input(Tensor::from(shape, values).to(DType::kFloat64), file, line);
  const SourceLine where{file, line};
  if (static_cast<std::int64_t>(values.size()) != shape.elements())
    throw UsageError(fmt::format("input: {} values given for shape {}, which holds {}\n  at {}", values.size(),
                                 shape.to_string(), shape.elements(), where.to_string()));
  auto* data = leaf_data_.allocate_array<float>(shape.elements());
  std::copy(values.begin(), values.end(), data);
  return add_leaf_data({DType::kFloat32, shape}, data, where);
}

Expr Graph::constant(const Shape& shape, double value, DType dtype, const char* file, std::int32_t line) {
  const bool is_zero = value == 0 && !std::signbit(value) && dtype != DType::kInt32;
  if (!is_zero || static_cast<std::size_t>(shape.elements()) * size_of(dtype) > Zeros::kBytes)
    return input(Tensor::filled(shape, value, dtype), file, line);
  return add_leaf_data({dtype, shape}, Zeros::kData.data(), {file, line});
}

Expr Recorder::record_parameter(const Parameter& parameter) {
  ParameterNodes::Known& known = parameters_.look_up(parameter.uid());
  if (const std::int32_t node = parameters_.node_of(known); node >= 0) return expr(NodeId{node});
  if (known.was_recorded())
    if (const Type& type = types_[known.type];
        type.dtype == parameter.value().dtype() && type.shape == parameter.shape())
      return record_parameter_again(parameter, known);
  if (parameter.is_destroyed()) refuse_destroyed("graph", parameter, {});
  const LeafAttrs attrs{parameter.value().dtype(), parameter.shape()};
  static const OpInfo& info = op_info(find_op("parameter"));
  if (attrs.dtype == DType::kInt32)
    throw UsageError(fmt::format("parameter \"{}\": a node holds float32 or float64, not int32", parameter.name()));
  const ParameterFields fields{&parameter, parameter.version()};
  const Expr result = record_leaf(info, &attrs, &fields, {});
  head_[at(result.node())].instance = kNoInstance;
  name_shared(result.node(), parameter.uid(), signature_id(result.node()));
  return result;
}

void Recorder::refuse_destroyed(std::string_view what, const Parameter& parameter, SourceLine where) {
  throw UsageError(
      fmt::format("{}: parameter \"{}\" was destroyed with its Model{}\n"
                  "  hint: a Model must outlive the layers, cells and block programs that use its parameters",
                  what, parameter.name(), where.line() == 0 ? "" : "\n  at " + where.to_string()));
}

/// All is known of it but whether it was changed.
Expr Recorder::record_parameter_again(const Parameter& parameter, ParameterNodes::Known& known) {
  if (size_ == room_) [[unlikely]]
    make_room();
  const ParameterFields fields{&parameter, parameter.version()};
  const NodeId node = write_node(known.signature, {known.type, kNoInstance, kSingle, name_of_number(known.number)},
                                 add_fields(&fields, sizeof(fields)), 0, {nullptr, 0});
  parameters_.add_again(known, node);
  return expr(node);
}

void Graph::use_current_parameters() {
  if (statistics().runs > 0)
    throw UsageError(
        "use_current_parameters: values of this graph were computed already\n"
        "  hint: call it before the first value(), backward() or finish()");
  parameters_.for_each_node([&](NodeId node) {
    const Parameter* const parameter = parameter_of(node);
    // A parameter that was destroyed or has another type by now stays as it was recorded: running it is refused.
    if (parameter == nullptr || parameter->is_destroyed() || parameter->value().dtype() != type(node).dtype) return;
    const ParameterFields fields{parameter, parameter->version()};
    std::memcpy(fields_.data() + begin_[at(node)].fields, &fields, sizeof(fields));
  });
}

Expr Graph::derived(std::uint64_t uid, const std::function<Expr(Graph&)>& make) {
  if (const std::int32_t known = parameters_.find(uid); known >= 0) return expr(NodeId{known});
  const Expr made = make(*this);
  if (!shared(made.node()))
    throw UsageError(fmt::format("derived: {} is not made from parameters alone", describe(made.node())));
  if (head_[at(made.node())].shared == name_of_node(at(made.node())) && !inputs(made.node()).empty())
    name_shared(made.node(), uid);
  else  // a parameter, or derived by another name: it keeps that
    static_cast<void>(parameters_.add(uid, made.node(), type_id(made.node())));
  return made;
}

Expr Recorder::add_trace_input(const Shape& shape, bool shared, SourceLine where) {
  const Expr leaf = add_leaf_data({DType::kFloat32, shape}, nullptr, where);
  head_[at(leaf.node())].shared = shared ? name_of_node(at(leaf.node())) : 0;
  return leaf;
}

void Recorder::name_shared(NodeId node, std::uint64_t uid, SignatureId signature) {
  if (parameters_.numbers() >= GraphLimits::current().parameters)
    throw ResourceError(fmt::format("graph: {} parameters are recorded, the most there can be", parameters_.numbers()));
  const std::int32_t number = parameters_.add(uid, node, type_id(node), signature);
  head_[at(node)].shared = name_of_number(number);
}

}  // namespace espalier
