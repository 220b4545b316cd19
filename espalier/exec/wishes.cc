#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "espalier/exec/backward.h"
#include "espalier/exec/parameters.h"

namespace espalier::exec {

Wishes::Wishes(const Graph& graph, std::span<const Seed> seeds, const BackwardOptions& options) : options_(options) {
  flags_.assign(static_cast<std::size_t>(graph.size()), 0);
  std::int32_t last = -1;
  for (const Seed& seed : seeds) {
    flags_[at(seed.node)] |= kReached;
    last = std::max(last, index_of(seed.node));
  }
  for (const Expr& expr : options.wanted) {
    if (&expr.graph() != &graph) throw UsageError("backward: a wanted Expr belongs to another graph");
    flags_[at(expr.node())] |= kWanted | kLeads;
    const std::int32_t result = graph.signature(expr.node()).info->result;
    flags_[at(expr.node()) - static_cast<std::size_t>(result)] |= kLeads;  // of a cell: with all its results
  }
  for (std::int32_t i = last; i >= 0; --i) {
    if ((flags_[static_cast<std::size_t>(i)] & kReached) == 0) continue;
    for (NodeId input : graph.inputs(NodeId{i})) flags_[at(input)] |= kReached;
    // A cell is differentiated with all its results.
    for (std::int32_t k = 1; k < graph.signature(NodeId{i}).info->results; ++k) {
      flags_[at(NodeId{i + k})] |= kReached;
      last = std::max(last, i + k);
    }
  }
  for (std::int32_t i = 0; i <= last; ++i) {
    const NodeId node{i};
    std::uint8_t& flags = flags_[at(node)];
    if ((flags & kReached) == 0) continue;
    const std::span<const NodeId> inputs = graph.inputs(node);
    for (NodeId input : inputs) flags = static_cast<std::uint8_t>(flags | (flags_[at(input)] & kLeads));
    if (!inputs.empty()) continue;
    const Parameter* parameter = graph.parameter_of(node);
    if (parameter == nullptr) continue;
    require_unchanged(graph, node);
    if (parameter->frozen) continue;
    if (gradients_of(*parameter) == nullptr)
      throw UsageError(
          fmt::format("backward: parameter \"{}\" belongs to no Model; give a Gradients object for its gradient",
                      parameter->name()));
    flags |= kLeads;
  }
}

void Wishes::follow_merged(const NodeTable& table) {
  for (std::size_t i = 0; i < flags_.size(); ++i)
    if (at(table.same[i]) != i)
      flags_[at(table.same[i])] = static_cast<std::uint8_t>(flags_[at(table.same[i])] | (flags_[i] & kGets));
}

}  // namespace espalier::exec
