#include "espalier/exec/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "espalier/base/denormals.h"
#include "espalier/base/error.h"
#include "espalier/exec/ancestors.h"
#include "espalier/exec/node_call.h"

namespace espalier::exec {
namespace {

std::size_t at(NodeId node) { return static_cast<std::size_t>(index_of(node)); }

/// Where a leaf's numbers are.
const std::byte* leaf_value(const Graph& graph, NodeId node) {
  if (const Parameter* parameter = graph.parameter_of(node)) {
    require_unchanged(graph, node, *parameter);
    return parameter->value().data();
  }
  InputFields fields;
  std::memcpy(&fields, graph.fields(node), sizeof(fields));
  return static_cast<const std::byte*>(fields.data);
}

void run_node(const Graph& graph, Values& values, NodeCall& call, NodeId node) {
  const Signature& signature = graph.signature(node);
  const OpInfo& info = *signature.info;
  const Type& type = graph.type(node);
  std::byte* y = values.memory.allocate(static_cast<std::size_t>(type.elements) * size_of(type.dtype));
  call.open(node);
  const auto elements = static_cast<std::size_t>(type.elements);
  if (type.dtype == DType::kFloat64) {
    info.plain_double(graph.attrs(node), graph.fields(node), call.plain<double>(),
                      {reinterpret_cast<double*>(y), elements});
  } else if (graph.options().execution == Execution::kPlain) {
    info.plain_float(graph.attrs(node), graph.fields(node), call.plain<float>(),
                     {reinterpret_cast<float*>(y), elements});
  } else {
    StepOut out{.y = {reinterpret_cast<float*>(y), 1, type.elements, type.elements, nullptr}, .saved = {}};
    if (signature.saved > 0) {
      float* saved = values.memory.allocate_array<float>(signature.saved);
      values.saved[at(node)] = saved;
      out.saved = {saved, 1, signature.saved, signature.saved, nullptr};
    }
    info.forward(graph.attrs(node), call.step(), out);
  }
  values.value[at(node)] = y;
}

bool is_changed(const Graph& graph, NodeId node, const Parameter& parameter) {
  ParameterFields fields;
  std::memcpy(&fields, graph.fields(node), sizeof(fields));
  return parameter.version() != fields.version;
}

/// Refuses to go on from values that were computed from numbers a parameter no longer has.
void refuse_mixture(const Graph& graph, Values& values, std::span<const NodeId> nodes) {
  const bool any_changed = std::any_of(values.parameters.begin(), values.parameters.end(),
                                       [&](NodeId node) { return is_changed(graph, node, *graph.parameter_of(node)); });
  if (!any_changed) return;  // nearly always, and without a walk over all that was computed
  for (NodeId node : ancestors(graph, nodes, values.marks, [](NodeId) { return true; }))
    if (const Parameter* parameter = graph.parameter_of(node)) require_unchanged(graph, node, *parameter);
}

}  // namespace

void require_unchanged(const Graph& graph, NodeId node, const Parameter& parameter) {
  if (is_changed(graph, node, parameter))
    throw UsageError(
        fmt::format("run: parameter \"{}\" was changed after this graph recorded it\n"
                    "  hint: ask for values and gradients before optimizer.step(), or record a new graph after it",
                    parameter.name()));
}

Values& Values::of(Graph& graph) {
  if (graph.runtime() == nullptr) graph.runtime() = std::make_unique<Values>();
  auto& values = static_cast<Values&>(*graph.runtime());
  values.value.resize(static_cast<std::size_t>(graph.size()), nullptr);
  values.saved.resize(static_cast<std::size_t>(graph.size()), nullptr);
  return values;
}

void Values::clear() {
  value.clear();
  saved.clear();
  parameters.clear();
  memory.clear();
  wanted.clear();
}

void compute(Graph& graph, std::span<const NodeId> nodes) {
  const FlushDenormals flush;
  Values& values = Values::of(graph);
  for (NodeId node : nodes)
    if (const Parameter* parameter = graph.parameter_of(node)) require_unchanged(graph, node, *parameter);
  const std::vector<NodeId> pending =
      ancestors(graph, nodes, values.marks, [&](NodeId node) { return values.value[at(node)] == nullptr; });
  if (pending.empty()) return;
  refuse_mixture(graph, values, nodes);
  for (NodeId node : pending) {
    if (graph.signature(node).info->kind != Kind::kLeaf) continue;
    values.value[at(node)] = leaf_value(graph, node);
    if (graph.parameter_of(node) != nullptr) values.parameters.push_back(node);
  }
  NodeCall call(graph, values);
  for (NodeId node : pending)
    if (graph.signature(node).info->kind != Kind::kLeaf) run_node(graph, values, call, node);
}

}  // namespace espalier::exec
