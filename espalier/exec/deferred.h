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

/// The rows of all steps of one signature so far, as addresses.
class DeferredGroup {
 public:
  DeferredGroup(const Graph& graph, SignatureId signature) : graph_(graph), signature_(signature) {}

  SignatureId signature() const { return signature_; }
  bool empty() const { return nodes_.empty(); }
  NodeId sample() const { return nodes_[0]; }
  /// The shared operands, as nodes of the graph.
  std::span<const NodeId> shared() const { return shared_; }

  /// Adds the rows of a step whose gradients are `dy`.
  void add(const StepView& view, const ConstRows& dy);
  /// Adds the gradients to `targets`, one an operand, null where not wanted. The rows are forgotten.
  void run(std::span<float* const> targets);

 private:
  struct Column {
    std::int64_t width = 0;
    bool shared = false;
    std::vector<const float*> rows;
    std::vector<std::int64_t> offsets;
    std::vector<float> gathered;
  };
  static void append(Column& column, const ConstRows& rows);
  /// The rows of a column; of a product, gathered where they are not evenly spaced.
  ConstRows rows_of(Column& column, bool gather) const;

  const Graph& graph_;
  SignatureId signature_;
  std::vector<NodeId> nodes_;
  std::vector<NodeId> shared_;
  std::vector<Shape> shapes_;
  std::vector<Column> operands_;
  Column y_;
  Column saved_;
  Column dy_;
};

}  // namespace espalier::exec
