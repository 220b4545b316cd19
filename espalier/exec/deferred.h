/// Gradients of shared operands, which are taken of all rows of a signature together: one product a weight and use,
/// however many steps used it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/step_view.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

/// The rows of all steps of one signature so far. Plans lay them one step after the other, so that most groups are one
/// run of evenly spaced rows.
class DeferredGroup {
 public:
  DeferredGroup(const Graph& graph, SignatureId signature) : graph_(graph), signature_(signature) {}

  SignatureId signature() const { return signature_; }
  bool empty() const { return segments_.empty(); }
  NodeId sample() const { return nodes_[0]; }
  /// The shared operands, as nodes of the graph.
  std::span<const NodeId> shared() const { return shared_; }

  /// Adds the rows of a step, as its backward saw them.
  void add(const StepView& view, const Saved& saved);
  /// Where the gradient of an operand goes; null where it is not wanted.
  struct Target {
    float* data = nullptr;
    bool store = false;
  };
  /// Adds the gradients to `targets`, one an operand, or stores them. The rows are forgotten.
  void run(std::span<const Target> targets);

 private:
  /// One kind of rows of a step: an operand's, the results', what forward or backward left.
  struct Column {
    ConstRows rows;
    std::vector<std::int64_t> offsets;  // of its own, where the rows are not evenly spaced
  };
  struct Segment {
    std::vector<Column> columns;
    std::size_t first_node = 0;
    std::int64_t rows = 0;
  };
  static Column column_of(const ConstRows& rows);
  /// Takes `next`, which lies just behind `segment`, in; false if it lies elsewhere.
  static bool join(Segment& segment, const Segment& next);
  /// Takes `next` in, wherever it lies.
  static void scatter(Segment& segment, const Segment& next);
  void run_segment(const Segment& segment, std::span<const NodeId> nodes, std::span<const Target> targets);

  const Graph& graph_;
  SignatureId signature_;
  std::vector<NodeId> nodes_;
  std::vector<NodeId> shared_;
  std::vector<Shape> shapes_;
  std::vector<const Parameter*> parameters_;
  std::size_t operands_ = 0;
  std::size_t results_ = 0;
  std::vector<Segment> segments_;
  std::vector<float> unread_;
};

}  // namespace espalier::exec
