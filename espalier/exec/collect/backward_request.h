/// BackwardRequest: what backward() was asked for, checked before anything runs: which nodes get a gradient, and what
/// the parameters among them are used for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/bytes.h"
#include "espalier/exec/collect/known_signatures.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"

namespace espalier::exec {

/// What a backward pass starts from: d(total) / d(node), the same for every element of the node, or one for each.
struct Seed {
  NodeId node;
  double factor = 1;
  const Tensor* gradient = nullptr;  // used instead, if there is one; of the node's type
};

class BackwardRequest {
 public:
  /// Refuses (UsageError) a wanted Expr of another graph, a changed parameter, and a parameter that has no place for
  /// its gradient.
  BackwardRequest(const Graph& graph, KnownSignatures& known, std::span<const Seed> seeds,
                  const BackwardOptions& options);

  /// Whether the seeds depend on the node and it leads to something that is wanted or a parameter to be learned.
  bool gets_gradient(NodeId node) const { return (flags_[at(node)] & kGets) == kGets; }
  /// Whether the seeds depend on the node, or on another result of its cell.
  bool is_reached(NodeId node) const { return (flags_[at(node)] & kReached) != 0; }
  bool is_wanted(NodeId node) const { return (flags_[at(node)] & kWanted) != 0; }
  bool any_wanted() const { return !options_.wanted.empty(); }
  /// Whether a parameter is nothing but a weight of products, which nobody reads when all steps are differentiated; or
  /// nothing but a table whose rows are looked up, which nobody reads when it is differentiated.
  bool is_only_weight(NodeId parameter) const { return (flags_[at(parameter)] & kUses) == kWeight; }
  bool is_only_table(NodeId parameter) const { return (flags_[at(parameter)] & kUses) == kTable; }
  Gradients* gradients_of(const Parameter& parameter) const {
    return options_.into != nullptr ? options_.into : parameter.gradients;
  }
  const BackwardOptions& options() const { return options_; }
  std::int64_t memory() const { return memory_of(flags_); }
  /// All that the pass may change, each once.
  std::span<Gradients* const> gradients() const { return gradients_; }
  /// What is computed in a node's place gets that node's gradient too.
  void follow_merged(const NodeTable& table);

 private:
  static constexpr std::uint8_t kReached = 1;  // the seeds depend on it
  static constexpr std::uint8_t kLeads = 2;    // to a parameter to be learned, or to a wanted node
  static constexpr std::uint8_t kGets = kReached | kLeads;
  static constexpr std::uint8_t kWanted = 4;
  static constexpr std::uint8_t kParameter = 8;
  // What a parameter is used for.
  static constexpr std::uint8_t kWeight = 16;
  static constexpr std::uint8_t kTable = 32;
  static constexpr std::uint8_t kElse = 64;
  static constexpr std::uint8_t kUses = kWeight | kTable | kElse;

  /// A parameter that the seeds depend on.
  void open_parameter(const Graph& graph, NodeId node, const Parameter& parameter);
  /// Tells the parameters among inputs of an op, from input `first` on, that they are used; returns whether any leads.
  std::uint8_t use(const OpInfo& info, std::span<const NodeId> inputs, std::size_t first);

  const BackwardOptions& options_;
  std::vector<std::uint8_t> flags_;
  std::vector<Gradients*> gradients_;
};

}  // namespace espalier::exec
