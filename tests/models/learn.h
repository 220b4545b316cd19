/// Trains a network on a few instances.
#pragma once

#include <functional>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/optim/adam.h"

namespace espalier::models::testing {

/// The loss after so many steps of Adam; `loss` records all instances.
inline double loss_after(Model& model, int steps, const std::function<Expr(Graph&)>& loss, double rate = 0.02) {
  optim::Adam adam(model, {.learning_rate = rate});
  for (int step = 0; step < steps; ++step) {
    Graph graph;
    loss(graph).backward();
    adam.step();
  }
  Graph graph({.training = false});
  return loss(graph).scalar();
}

}  // namespace espalier::models::testing
