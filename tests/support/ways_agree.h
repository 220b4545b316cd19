/// Compares what a program computes batched with what it computes one node at a time, and with the reference twin.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "espalier/ops/sum.h"
#include "tests/support/cells_agree.h"

namespace espalier::testing {

/// Records the loss of one instance.
using InstanceLoss = std::function<Expr(Graph&, std::int32_t instance)>;

/// Of a float32 model: values and gradients of `loss` for one instance alone, for several, and for several among
/// instances of another kind, by every strategy, equal those of the twin.
inline void expect_ways_agree(const Model& model, const InstanceLoss& loss, const InstanceLoss& unlike) {
  const auto minibatch = [&](std::int32_t instances, bool mixed) {
    return [&, instances, mixed](Graph& graph, std::vector<Expr>&) {
      std::vector<Expr> losses;
      for (std::int32_t i = 0; i < instances; ++i) {
        graph.begin_instance();
        losses.push_back(loss(graph, i));
        if (!mixed) continue;
        graph.begin_instance();
        losses.push_back(unlike(graph, i));
      }
      return sum(losses);
    };
  };
  const auto compare = [&](const char* what, const LossOf& record) {
    SCOPED_TRACE(what);
    const std::vector<Tensor> expected = numbers_of(model, {.seed = 5, .execution = Execution::kPlain}, record);
    for (const Strategy strategy : {Strategy::kFrontier, Strategy::kAgenda, Strategy::kDepth, Strategy::kNone})
      expect_near(numbers_of(model, {.seed = 5, .strategy = strategy}, record), expected, what);
  };
  compare("alone", minibatch(1, false));
  compare("with its like", minibatch(7, false));
  compare("among unlike instances", minibatch(7, true));
}

}  // namespace espalier::testing
