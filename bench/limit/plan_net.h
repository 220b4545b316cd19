/// The limit of B7: a network over query plans with weights for every kind of operator, written by hand for whole
/// minibatches.
///
/// Operators of one kind and height run together (plan_layout.h): two products and two loops. A state is written into
/// its parent's operand, beside the parent's features. The gradients of a kind's weights are one product each over all
/// its rows. There are no equal leaves: every operator has numbers of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/data/sets.h"
#include "bench/limit/buffer.h"
#include "bench/limit/lane_sums.h"
#include "bench/limit/layer.h"
#include "bench/limit/limit_runner.h"
#include "bench/limit/plan_layout.h"
#include "bench/limit/plan_loops.h"

namespace espalier::bench {

class PlanNetLimit : public LimitRunner {
 public:
  /// The parameters of `model` are those of workloads/plan_net.h.
  PlanNetLimit(std::shared_ptr<const DataSet<QueryPlan>> data, const Model& model);

 private:
  /// What belongs to one kind of operator.
  struct Kind {
    Kind(Weights& weights, std::int32_t number, std::int64_t features);
    Layer first;
    Layer second;
    LaneSums first_bias;
    LaneSums second_bias;
    // Of this minibatch.
    std::int64_t begin = 0;  // rows
    std::int64_t end = 0;
    std::int64_t x = 0;   // where its operands begin, [rows, inputs of first]
    std::int64_t dx = 0;  // and the gradients of the children's states among them

    Preparing preparing;

    std::int64_t rows() const { return end - begin; }
  };

  double differentiate(std::span<const std::int32_t> batch, float scale) override;
  double evaluate(std::span<const std::int32_t> batch) override;

  void lay_out(std::span<const std::int32_t> batch);
  void place_rows();
  void prepare_forward(bool forever);
  /// Calls at_group(begin, end) for the groups of every lane once their second product is there. Gives the sum of what
  /// it gives.
  template <class AtGroup>
  double forward(bool keep, const AtGroup& at_group);
  void backward();
  void add_gradients();
  Kind& kind(std::int32_t number) { return kinds_[static_cast<std::size_t>(number)]; }

  std::shared_ptr<const DataSet<QueryPlan>> data_;
  std::int64_t features_;
  Weight* head_;
  Weight* head_bias_;
  LaneSums head_sums_;
  std::int64_t hidden_;
  std::vector<Kind> kinds_;

  PlanLayout layout_;
  PlanRows rows_;
  std::vector<double> sums_;  // of the lanes
  Buffer<float> x_;
  Buffer<float> dx_;
  Buffer<float> a_;  // [rows, hidden]: between the products
  Buffer<float> da_;
  Buffer<float> s_;
  Buffer<float> targets_;
  Buffer<float> dtimes_;
  Buffer<std::int64_t> places_;
  Buffer<std::int64_t> gradient_places_;
};

}  // namespace espalier::bench
