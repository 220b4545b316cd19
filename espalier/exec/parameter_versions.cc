#include "espalier/exec/parameter_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "espalier/base/error.h"

namespace espalier::exec {
namespace {

bool is_changed(const Graph& graph, NodeId node, const Parameter& parameter) {
  ParameterFields fields;
  std::memcpy(&fields, graph.fields(node), sizeof(fields));
  return parameter.version() != fields.version;
}

}  // namespace

void require_unchanged(const Graph& graph, NodeId node, bool freed) {
  const Parameter* parameter = graph.parameter_of(node);
  if (parameter == nullptr || !is_changed(graph, node, *parameter)) return;
  if (parameter->is_destroyed())
    throw UsageError(
        fmt::format("run: parameter \"{}\" was destroyed with its Model after this graph recorded it\n"
                    "  hint: a Model must outlive its graphs; ask for values and gradients before it goes out of scope",
                    parameter->name()));
  throw UsageError(
      fmt::format("run: parameter \"{}\" was changed after this graph recorded it\n  hint: {}", parameter->name(),
                  freed ? "backward() or finish() freed this value; graph.keep(x) before it makes it stay"
                        : "ask for values and gradients before optimizer.step(), or record a new graph after it"));
}

void refuse_mixture(const Graph& graph, std::span<const NodeId> known, std::span<const NodeId> nodes, Marks& marks,
                    bool freed) {
  const bool any_changed = std::any_of(known.begin(), known.end(),
                                       [&](NodeId node) { return is_changed(graph, node, *graph.parameter_of(node)); });
  if (!any_changed) return;  // nearly always, and without a walk over all that was computed
  for (NodeId node : ancestors(graph, nodes, marks, [](NodeId) { return true; })) require_unchanged(graph, node, freed);
}

const std::byte* leaf_value(const Graph& graph, NodeId leaf) {
  if (const Parameter* parameter = graph.shared(leaf) ? graph.parameter_of(leaf) : nullptr) {
    if (is_changed(graph, leaf, *parameter)) require_unchanged(graph, leaf);
    return parameter->value().data();
  }
  InputFields fields;
  std::memcpy(&fields, graph.fields(leaf), sizeof(fields));
  return static_cast<const std::byte*>(fields.data);
}

}  // namespace espalier::exec
