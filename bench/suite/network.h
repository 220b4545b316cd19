/// Network: a workload's model as a user of Espalier writes it: how to record one instance, with no minibatches.
///
/// A derived class creates its layers in model_. All networks of one kind start from the same weights, and the limit
/// (bench/limit) copies them by name.
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

  /// Appends the losses of one instance, any number of scalars. Training minimises their sum.
  virtual void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const = 0;
  /// Appends the outputs of one instance for inference.
  virtual void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const = 0;

  /// With several threads: the smallest number of instances that is worth a separate graph.
  virtual std::int64_t least_in_lane() const { return 1; }

  Model& model() { return model_; }
  const Model& model() const { return model_; }

 protected:
  Model model_{1};
};

}  // namespace espalier::bench
