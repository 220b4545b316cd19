/// Network: a workload's model as a user of Espalier writes it. It says how one instance is recorded, and nothing of
/// minibatches.
///
/// A derived class makes its layers on model_, which every network of one kind fills with the same weights. The weights
/// of the limit (bench/limit) are copied from there by name.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"

namespace espalier::bench {

class Network {
 public:
  Network() = default;
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Appends the losses of one instance, scalars as many as it likes: what is minimised is the sum over all of them.
  virtual void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const = 0;
  /// Appends what the network is asked for when it is used and not trained.
  virtual void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const = 0;

  /// With several threads: how many instances of a minibatch are worth a graph of their own.
  virtual std::int64_t least_in_lane() const { return 1; }

  Model& model() { return model_; }
  const Model& model() const { return model_; }

 protected:
  Model model_{1};
};

}  // namespace espalier::bench
