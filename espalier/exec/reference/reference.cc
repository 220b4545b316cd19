#include "espalier/exec/reference/reference.h"

#include <fmt/format.h>

#include "espalier/base/at.h"
#include "espalier/base/denormals.h"
#include "espalier/exec/node_call.h"
#include "espalier/exec/parameter_versions.h"

namespace espalier::exec {

void Reference::run_node(NodeId node) {
  const Type& type = graph_.type(node);
  const OpInfo& info = *graph_.signature(node).info;
  const auto elements = static_cast<std::size_t>(type.elements);
  std::byte* y = memory_.allocate(static_cast<std::size_t>(graph_.bytes(node)));
  values_[at(node)] = y;
  for (std::int64_t row = 0; row < graph_.rows(node); ++row, y += elements * size_of(type.dtype)) {
    NodeCall call(graph_, node, row);
    if (type.dtype == DType::kFloat64)
      info.plain_double(graph_.attrs(node), graph_.fields(node, row), call.plain<double>(values_),
                        {reinterpret_cast<double*>(y), elements});
    else
      info.plain_float(graph_.attrs(node), graph_.fields(node, row), call.plain<float>(values_),
                       {reinterpret_cast<float*>(y), elements});
  }
}

void Reference::clear() {
  values_.clear();
  parameters_.clear();
  memory_.clear();
  forget_wanted();
  statistics_ = {};
}

void Reference::compute(std::span<const NodeId> nodes) {
  const FlushDenormals flush;
  values_.resize(static_cast<std::size_t>(graph_.size()), nullptr);
  for (NodeId node : nodes) require_unchanged(graph_, node);
  const std::vector<NodeId> pending =
      ancestors(graph_, nodes, marks_, [&](NodeId node) { return values_[at(node)] == nullptr; });
  if (pending.empty()) return;
  refuse_mixture(graph_, parameters_, nodes, marks_);
  for (NodeId node : pending) {
    if (graph_.signature(node).info->kind != Kind::kLeaf) continue;
    values_[at(node)] = leaf_value(graph_, node);
    if (graph_.parameter_of(node) != nullptr) parameters_.push_back(node);
  }
  ++statistics_.runs;
  for (NodeId node : pending) {
    if (graph_.signature(node).info->kind == Kind::kLeaf) continue;
    run_node(node);
    ++statistics_.nodes;
    ++statistics_.steps;
  }
}

std::string Reference::explain_plan(std::span<const NodeId> nodes, RunKind) {
  std::int64_t count = 0;
  for (NodeId node : ancestors(graph_, nodes, marks_, [](NodeId) { return true; }))
    if (graph_.signature(node).info->kind != Kind::kLeaf) ++count;
  return fmt::format("{} nodes, to be computed one by one by the reference code\n", count);
}

std::string Reference::explain() const {
  return fmt::format("{} nodes, computed one by one by the reference code\n", statistics_.nodes);
}

}  // namespace espalier::exec
