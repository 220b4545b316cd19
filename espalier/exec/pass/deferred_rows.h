/// Gradients of shared operands, which are taken of all rows of a signature together: one product a weight and use,
/// however many steps used it.
#pragma once

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
    used_ = 0;
    memory_ = 0;
  }

  SignatureId signature() const { return signature_; }
  bool empty() const { return used_ == 0; }
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
    const auto of_column =
        static_cast<std::int64_t>(sizeof(Column)) + rows * kTwice * std::int64_t{sizeof(std::int64_t)};
    return static_cast<std::int64_t>(sizeof(Segment)) + columns * of_column +
           rows * kTwice * std::int64_t{sizeof(NodeId)};
  }

 private:
  static constexpr std::int64_t kTwice = 2;  // as they come, and all together
  /// One kind of rows of a step: an operand's, the results', what forward or backward left.
  struct Column {
    ConstRows rows;
    std::vector<std::int64_t> offsets;  // of its own, where the rows are not evenly spaced
  };
  struct Segment {
    std::vector<Column> columns;
    std::size_t first_node = 0;
    std::size_t nodes = 0;
    std::int64_t rows = 0;
    std::vector<std::int32_t> first_equal;  // as StepIn::first_equal; empty: null
  };
  static void set(Column& column, const ConstRows& rows, bool is_read);
  /// The next segment, with room for so many columns.
  Segment& add_segment(std::size_t columns);
  std::span<Segment> segments() { return std::span(segments_).first(used_); }
  /// Adds the rows of the next step: evenly spaced while all lie so, else each by its place.
  static void append(Column& column, const ConstRows& next);
  /// The columns of a segment behind those of its operands; from kFirstResult on, all results of a cell.
  enum Extra : std::uint8_t { kY, kSaved, kDy, kDeferred, kFirstResult };
  std::size_t column_of(Extra extra) const { return operands_ + extra; }
  void open_unread(const Segment& segment);
  StepIn input_of(const Segment& segment, std::span<const NodeId> nodes, const OpInfo& info);
  void run_segment(const Segment& segment, std::span<const NodeId> nodes, std::span<const Target> targets);
  /// Step after step, for an op that takes its operands whole: what it left lies as its step was.
  void run_each_segment(std::span<const Target> targets);

  const Graph* graph_ = nullptr;
  SignatureId signature_{};
  std::vector<NodeId> nodes_;
  std::vector<NodeId> shared_;
  std::vector<Shape> shapes_;
  std::vector<const Parameter*> parameters_;
  std::uint64_t read_ = 0;  // operands, a bit each
  std::size_t operands_ = 0;
  std::size_t results_ = 0;
  std::vector<Segment> segments_;
  std::size_t used_ = 0;  // of them
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
