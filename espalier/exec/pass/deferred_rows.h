/// Gradients of shared operands, which are taken of all rows of a signature together: one product a weight and use,
/// however many steps used it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/bind/bound_step.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

/// The rows of all steps of one signature so far. Plans lay them one step after the other, so that most groups are one
/// run of evenly spaced rows. Made for one signature after the other, so that its memory is allocated once.
class DeferredRows {
 public:
  /// Forgets everything; rows are of this signature from here on.
  void start(const Graph& graph, SignatureId signature) {
    graph_ = &graph;
    signature_ = signature;
    segments_.clear();
    memory_ = 0;
  }

  SignatureId signature() const { return signature_; }
  bool empty() const { return segments_.empty(); }
  NodeId sample() const { return nodes_[0]; }
  /// Whether some row reads shared operand i.
  bool reads(std::size_t i) const { return (read_ >> i & 1U) != 0; }
  /// The shared operands, as nodes of the graph.
  std::span<const NodeId> shared() const { return shared_; }

  /// Adds the rows of a step, as its backward saw them.
  void add(const BoundStep& view, const Saved& saved);
  /// Where the gradient of an operand goes; null where it is not wanted.
  struct Target {
    float* data = nullptr;
    bool store = false;
  };
  /// Adds the gradients to `targets`, one an operand, or stores them. The rows are forgotten.
  void run(std::span<const Target> targets);
  /// Of all steps since start().
  std::int64_t memory() const { return memory_; }
  /// Of one step at most; columns are the operands, the results and four more.
  static std::int64_t most_memory(std::int64_t columns, std::int64_t rows) {
    const auto of_column = static_cast<std::int64_t>(sizeof(Part)) + rows * kTwice * std::int64_t{sizeof(std::int64_t)};
    return static_cast<std::int64_t>(sizeof(Segment)) + columns * of_column +
           rows * kTwice * std::int64_t{sizeof(NodeId)};
  }

 private:
  static constexpr std::int64_t kTwice = 2;  // as they come, and all together
  static constexpr std::int32_t kNone = -1;
  /// A step. A deep chain has a million of them: what is known of each takes few bytes.
  struct Segment {
    std::uint32_t first_node = 0;
    std::uint32_t nodes = 0;
    std::int32_t rows = 0;
    std::int32_t first_equal = kNone;  // where its own begin, as StepIn::first_equal has them; kNone: null
  };
  /// The rows of one column of a step.
  struct Part {
    const float* data = nullptr;
    std::int64_t stride = 0;  // or, if they are not evenly spaced, where their offsets begin
    std::int32_t count = 0;
    bool is_even = true;
  };
  /// One kind of rows: an operand's, the results', what forward or backward left.
  struct Column {
    std::int32_t part = kNone;  // among those of a step; kNone: the same for all steps, or read by nobody
    ConstRows rows;             // of the call under way
    std::vector<std::int64_t> offsets;
  };
  /// The columns behind those of the operands; from kFirstResult on, all results of a cell.
  enum Extra : std::uint8_t { kY, kSaved, kDy, kDeferred, kFirstResult };
  std::size_t column_of(Extra extra) const { return operands_ + extra; }
  /// Of the first step: what all have in common.
  void open(const BoundStep& view, const Saved& saved);
  ConstRows rows_of(const Saved& saved, std::size_t column) const;
  /// Shows steps first to last - 1, which were met in the opposite order, as one; gives how many rows that is.
  std::int64_t join(std::size_t first, std::size_t last);
  static void append(Column& column, const ConstRows& next);
  void open_unread();
  /// The operands in `inputs_` as a step of the nodes in `in_order_`.
  StepIn input_of(std::int64_t rows, const std::int32_t* first_equal, const OpInfo& info);
  /// Calls the op for the rows of steps first to last - 1.
  void run_steps(std::size_t first, std::size_t last, std::span<const Target> targets);

  const Graph* graph_ = nullptr;
  SignatureId signature_{};
  std::vector<NodeId> nodes_;
  std::vector<NodeId> shared_;
  std::vector<Shape> shapes_;
  std::vector<const Parameter*> parameters_;
  std::uint64_t read_ = 0;  // operands, a bit each
  std::size_t operands_ = 0;
  std::size_t results_ = 0;
  std::vector<Column> columns_;
  std::size_t parts_a_step_ = 0;
  // Of the steps so far, one after the other.
  std::vector<Segment> segments_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int32_t> first_equal_;
  std::int64_t memory_ = 0;
  // Of a call of the op.
  std::vector<NodeId> in_order_;
  std::vector<ConstRows> inputs_;
  std::vector<GradRows> grads_;
  std::vector<Rows> result_rows_;
  std::vector<std::byte> fields_;
  std::vector<float> unread_;
  std::vector<std::int64_t> node_begin_;
  std::vector<std::int64_t> operand_begin_;
  std::vector<Target> later_targets_;
};

}  // namespace espalier::exec
