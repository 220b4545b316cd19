#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "espalier/base/error.h"
#include "espalier/exec/backward.h"
#include "espalier/exec/collect.h"
#include "espalier/exec/parameters.h"

namespace espalier::exec {
namespace {

/// What all nodes of a signature have in common: of their inputs those from `operands` on, which are shared.
struct OfSignature {
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  const OpInfo* info = nullptr;  // null: not met yet
  std::size_t operands = kAll;
  std::uint8_t flags = 0;  // of the shared inputs together
  bool is_used = false;    // the shared inputs know of it

  std::span<const NodeId> own(std::span<const NodeId> inputs) const {
    return inputs.first(std::min(operands, inputs.size()));
  }
};

OfSignature describe(const Graph& graph, NodeId node) {
  OfSignature of;
  of.info = graph.signature(node).info;
  if (of.info->takes_any_number()) return of;
  of.operands = graph.inputs(node).size();
  while (of.operands > 0 && Collector::is_shared_operand(graph, node, of.operands - 1)) --of.operands;
  return of;
}

std::vector<OfSignature>& lists_of_thread() {
  thread_local std::vector<OfSignature> signatures;
  return signatures;
}

}  // namespace

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
  std::vector<OfSignature>& signatures = lists_of_thread();
  signatures.assign(static_cast<std::size_t>(graph.signatures().size()), {});
  for (std::int32_t i = last; i >= 0; --i) {
    if ((flags_[static_cast<std::size_t>(i)] & kReached) == 0) continue;
    const NodeId node{i};
    const std::span<const NodeId> inputs = graph.inputs(node);
    OfSignature& of = signatures[static_cast<std::size_t>(index_of(graph.signature_id(node)))];
    const bool is_first = of.info == nullptr;
    if (is_first) of = describe(graph, node);
    for (NodeId input : is_first ? inputs : of.own(inputs)) flags_[at(input)] |= kReached;
    // A cell is differentiated with all its results.
    for (std::int32_t k = 1; k < of.info->results; ++k) {
      flags_[at(NodeId{i + k})] |= kReached;
      last = std::max(last, i + k);
    }
  }
  for (std::int32_t i = 0; i <= last; ++i) {
    const NodeId node{i};
    std::uint8_t& flags = flags_[at(node)];
    if ((flags & kReached) == 0) continue;
    const std::span<const NodeId> inputs = graph.inputs(node);
    if (inputs.empty()) {
      if (const Parameter* parameter = graph.parameter_of(node)) open_parameter(graph, node, *parameter);
      continue;
    }
    OfSignature& of = signatures[static_cast<std::size_t>(index_of(graph.signature_id(node)))];
    if (!of.is_used) {
      if (of.info == nullptr) of = describe(graph, node);  // results of cells were reached without a visit
      of.is_used = true;
      of.flags = use(*of.info, inputs, of.operands);
    }
    std::uint8_t below = of.flags;
    for (NodeId input : of.own(inputs)) below = static_cast<std::uint8_t>(below | flags_[at(input)]);
    if ((below & kParameter) != 0) [[unlikely]]
      use(*of.info, of.own(inputs), 0);
    flags = static_cast<std::uint8_t>(flags | (below & kLeads));
  }
}

void Wishes::open_parameter(const Graph& graph, NodeId node, const Parameter& parameter) {
  flags_[at(node)] |= kParameter;
  require_unchanged(graph, node);
  if (parameter.frozen) return;
  if (gradients_of(parameter) == nullptr)
    throw UsageError(fmt::format(
        "backward: parameter \"{}\" belongs to no Model; give a Gradients object for its gradient", parameter.name()));
  flags_[at(node)] |= kLeads;
}

std::uint8_t Wishes::use(const OpInfo& info, std::span<const NodeId> inputs, std::size_t first) {
  constexpr std::size_t kBits = 64;  // an op with more inputs has no weights among them
  std::uint8_t all = 0;
  for (std::size_t i = first; i < inputs.size(); ++i) {
    std::uint8_t& flags = flags_[at(inputs[i])];
    all = static_cast<std::uint8_t>(all | (flags & kLeads));
    if ((flags & kParameter) == 0) continue;
    const bool adds_only = i < kBits && info.by_identity(i) && (info.adds_only >> i & 1U) != 0;
    flags |= info.table_row != nullptr ? kTable : adds_only ? kWeight : kElse;
  }
  return all;
}

void Wishes::follow_merged(const NodeTable& table) {
  for (std::size_t i = 0; i < flags_.size(); ++i)
    if (at(table.same[i]) != i)
      flags_[at(table.same[i])] = static_cast<std::uint8_t>(flags_[at(table.same[i])] | (flags_[i] & kGets));
}

}  // namespace espalier::exec
