#include "espalier/exec/collect/backward_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "espalier/exec/parameter_versions.h"

namespace espalier::exec {
namespace {

/// What a pass knows of a signature.
struct SignatureUse {
  std::uint8_t flags = 0;  // of its parameters together
  bool is_met = false;
  bool is_used = false;  // its parameters know of it
};

std::vector<SignatureUse>& uses_of_thread() {
  thread_local std::vector<SignatureUse> uses;
  return uses;
}

}  // namespace

BackwardRequest::BackwardRequest(const Graph& graph, KnownSignatures& known, std::span<const Seed> seeds,
                                 const BackwardOptions& options)
    : options_(options) {
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
  std::vector<SignatureUse>& uses = uses_of_thread();
  uses.assign(static_cast<std::size_t>(graph.signatures().size()), {});
  for (std::int32_t i = last; i >= 0; --i) {
    if ((flags_[static_cast<std::size_t>(i)] & kReached) == 0) continue;
    const NodeId node{i};
    const std::span<const NodeId> inputs = graph.inputs(node);
    const SignatureFacts& of = known.of(node);
    SignatureUse& use_of = uses[static_cast<std::size_t>(index_of(graph.signature_id(node)))];
    for (NodeId input : use_of.is_met ? of.in_plan(inputs) : inputs) flags_[at(input)] |= kReached;
    use_of.is_met = true;
    // A cell is differentiated with all its results.
    for (std::int32_t k = 1; k < of.results; ++k) {
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
    const SignatureFacts& of = known.of(node);
    const std::span<const NodeId> own = of.in_plan(inputs);
    SignatureUse& use_of = uses[static_cast<std::size_t>(index_of(graph.signature_id(node)))];
    if (!use_of.is_used) {
      use_of.is_used = true;
      use_of.flags = use(*of.info, inputs, own.size());
    }
    std::uint8_t below = use_of.flags;
    for (NodeId input : own) below = static_cast<std::uint8_t>(below | flags_[at(input)]);
    if ((below & kParameter) != 0) [[unlikely]]
      use(*of.info, own, 0);
    flags = static_cast<std::uint8_t>(flags | (below & kLeads));
  }
}

void BackwardRequest::open_parameter(const Graph& graph, NodeId node, const Parameter& parameter) {
  flags_[at(node)] |= kParameter;
  require_unchanged(graph, node);
  if (parameter.frozen) return;
  Gradients* const gradients = gradients_of(parameter);
  if (gradients == nullptr)
    throw UsageError(fmt::format(
        "backward: parameter \"{}\" belongs to no Model; give a Gradients object for its gradient", parameter.name()));
  if (std::find(gradients_.begin(), gradients_.end(), gradients) == gradients_.end()) gradients_.push_back(gradients);
  flags_[at(node)] |= kLeads;
}

std::uint8_t BackwardRequest::use(const OpInfo& info, std::span<const NodeId> inputs, std::size_t first) {
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

void BackwardRequest::follow_merged(const NodeTable& table) {
  for (std::size_t i = 0; i < flags_.size(); ++i)
    if (at(table.same[i]) != i)
      flags_[at(table.same[i])] = static_cast<std::uint8_t>(flags_[at(table.same[i])] | (flags_[i] & kGets));
}

}  // namespace espalier::exec
