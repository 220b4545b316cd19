/// RecurrentMask: recurrent dropout in the form of Gal and Ghahramani, "A theoretically grounded application of dropout
/// in recurrent neural networks" (2016): one mask for all steps of an instance, applied to the state h where it is
/// multiplied by weights.
///
///   const nn::RecurrentMask mask(g, lstm.hidden(), 0.3);             // once per instance
///   for (const Expr& x : words) state = lstm(x, mask(state));
///   const nn::TreeState parent = tree_lstm(mask(left), mask(right));
///
/// The memory c of an LSTM is not masked. In a GRU, h is also copied to the next state, which must not be masked: give
/// the mask to the cell, gru.step(x, h, mask). Layers over rows (LstmCell::rows(), ...) have no recurrent dropout.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/state.h"

namespace espalier::nn {

class ESPALIER_EXPORT RecurrentMask {
 public:
  /// Draws a mask for the current instance: each of `hidden` elements is 0 with probability `rate`, else 1 / (1 -
  /// rate). If the rate is 0 or the graph is not training, the mask changes nothing. Refuses (UsageError) a rate
  /// outside 0 <= rate < 1.
  RecurrentMask(Graph& graph, std::int32_t hidden, double rate, const char* file = __builtin_FILE(),
                std::int32_t line = __builtin_LINE());

  /// h times the mask.
  Expr operator()(Operand h) const;
  /// The state with a masked h. A missing child stays missing.
  LstmState operator()(const LstmState& state, const char* file = __builtin_FILE(),
                       std::int32_t line = __builtin_LINE()) const;
  /// The same for all children of a node.
  std::vector<TreeState> operator()(const Children& children) const;

 private:
  bool masks_ = false;
  Expr mask_;
};

}  // namespace espalier::nn
