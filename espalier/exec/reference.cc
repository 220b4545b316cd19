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

}  // namespace

void require_unchanged(const Graph& graph, NodeId node, const Parameter& parameter) {
  ParameterFields fields;
  std::memcpy(&fields, graph.fields(node), sizeof(fields));
  if (parameter.version() != fields.version)
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

void compute(Graph& graph, std::span<const NodeId> nodes) {
  const FlushDenormals flush;
  Values& values = Values::of(graph);
  const std::vector<NodeId> pending =
      ancestors(graph, nodes, values.marks, [&](NodeId node) { return values.value[at(node)] == nullptr; });
  NodeCall call(graph, values);
  // A parameter that is used again must still be what it was.
  for (NodeId node : pending)
    for (NodeId input : graph.inputs(node))
      if (graph.signature(input).info->kind == Kind::kLeaf) values.value[at(input)] = leaf_value(graph, input);
  for (NodeId node : pending) {
    if (graph.signature(node).info->kind == Kind::kLeaf)
      values.value[at(node)] = leaf_value(graph, node);
    else
      run_node(graph, values, call, node);
  }
}

}  // namespace espalier::exec
