/// KnownSignatures: what all nodes of a signature have in common, found once per signature of a graph.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

struct SignatureFacts {
  static constexpr std::int32_t kAll = -1;

  const OpInfo* info = nullptr;  // null: not known yet
  Kind kind = Kind::kLeaf;
  std::int32_t results = 1;
  std::int32_t operands = 0;  // that a plan looks at: not the parameters behind all others
  bool is_view = false;
  bool reads_row = false;    // a view of one of many rows
  bool is_lookup = false;    // of a parameter's row
  bool takes_apart = false;  // the many rows that it reads may lie anywhere

  std::span<const NodeId> in_plan(std::span<const NodeId> inputs) const {
    return operands == kAll ? inputs : inputs.first(static_cast<std::size_t>(operands));
  }
};

class KnownSignatures {
 public:
  explicit KnownSignatures(const Graph& graph) : graph_(graph) {}

  /// Valid until the graph has another signature, or forgets some.
  const SignatureFacts& of(NodeId node) {
    const auto id = static_cast<std::size_t>(index_of(graph_.signature_id(node)));
    if (id >= facts_.size()) [[unlikely]]
      facts_.resize(static_cast<std::size_t>(graph_.signatures().size()));
    if (facts_[id].info == nullptr) [[unlikely]]
      find(facts_[id], node);
    return facts_[id];
  }
  /// The graph was cleared.
  void clear() {
    if (graph_.signature_epoch() == epoch_) return;
    epoch_ = graph_.signature_epoch();
    facts_.clear();
  }

 private:
  void find(SignatureFacts& of, NodeId node) const;

  const Graph& graph_;
  std::uint32_t epoch_ = graph_.signature_epoch();
  std::vector<SignatureFacts> facts_;
};

}  // namespace espalier::exec
