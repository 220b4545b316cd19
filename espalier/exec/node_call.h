/// One node seen as a step of one row, or as a call of plain code: the views its op's functions take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/reference.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

/// Reused from node to node, so that its vectors are allocated once.
class NodeCall {
 public:
  NodeCall(const Graph& graph, const Values& values) : graph_(graph), values_(values) {}

  /// The views below are of this node from here on. Its inputs must be computed.
  void open(NodeId node);

  /// The inputs, for step kernels.
  const StepIn& step() const { return step_; }
  /// The inputs, for plain code.
  template <class T>
  PlainIn<T> plain();

  /// Gradients of the inputs, for step kernels; `targets` has one pointer an operand, null where not wanted, `store`
  /// whether the operands' memory is to be stored into.
  std::span<const GradRows> gradients(std::span<float* const> targets, bool store);
  std::span<const GradRows> gradients(std::span<float* const> targets, std::span<const std::uint8_t> store);

 private:
  const Graph& graph_;
  const Values& values_;
  std::span<const NodeId> inputs_;
  StepIn step_;
  const Shape* out_ = nullptr;
  std::vector<ConstRows> rows_;
  std::vector<Shape> shapes_;
  std::vector<std::int64_t> offsets_;
  std::array<std::int64_t, 2> ragged_{};
  std::vector<std::span<const float>> floats_;
  std::vector<std::span<const double>> doubles_;
  std::vector<GradRows> gradients_;
  std::vector<std::int64_t> gradient_offsets_;
};

}  // namespace espalier::exec
