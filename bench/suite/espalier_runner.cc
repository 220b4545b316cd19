#include "bench/suite/espalier_runner.h"

#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/suite/clock.h"
#include "espalier/base/error.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/kernels/rows.h"
#include "espalier/ops/sum.h"
#include "espalier/optim/sgd.h"
#include "espalier/train/lanes.h"

namespace espalier::bench {
namespace {

GraphOptions options_of(Variant variant, Leaves leaves, bool profile) {
  GraphOptions options;
  options.memoise = leaves == Leaves::kOnce ? Memoise::kLookups : Memoise::kOff;
  options.profile = profile;
  switch (variant) {
    case Variant::kCells:
    case Variant::kRecursion: break;
    case Variant::kPlain: options.expand_cells = true; break;
    case Variant::kUnbatched: options.strategy = Strategy::kNone; break;
    default: throw UsageError("espalier runner: the limit is no variant of Espalier");
  }
  return options;
}

class EspalierRunner : public Runner {
 public:
  EspalierRunner(std::unique_ptr<Network> network, const Workload& workload, Variant variant, Leaves leaves)
      : network_(std::move(network)), variant_(variant), leaves_(leaves), sgd_(network_->model(), {}) {
    for (std::int32_t i = 0; i < workload.instances(); ++i) nodes_.push_back(workload.nodes(i));
    set_profiling(false);
  }

  BatchResult train(std::span<const std::int32_t> batch) override {
    BatchResult result;
    sgd_.set_learning_rate(kLearningRate / static_cast<double>(batch.size()));
    // Where one graph has all instances, there is nothing to add up before the update.
    result.loss = sum_over_lanes(batch, [&](train::Lane& lane, Part part, std::vector<Expr>& exprs) {
      const Expr loss = record_loss(lane, part, exprs);
      if (lanes_->used().size() == 1)
        sgd_.minimise(loss);
      else
        loss.backward({.into = &lane.gradients, .wanted = {}});
      return loss.scalar();
    });
    const Clock::time_point start = Clock::now();
    if (lanes_->used().size() > 1) sgd_.step(lanes_->gradients_of_parts());
    result.statistics = lanes_->statistics();
    result.statistics.seconds.update += std::chrono::duration<double>(Clock::now() - start).count();
    return result;
  }

  BatchResult infer(std::span<const std::int32_t> batch) override {
    BatchResult result;
    result.loss = sum_over_lanes(batch, [&](train::Lane& lane, Part part, std::vector<Expr>& exprs) {
      for (const std::int32_t instance : part) {
        lane.graph.begin_instance();
        network_->record_outputs(lane.graph, instance, exprs);
      }
      lane.graph.finish(exprs);
      double sum = 0;
      for (const Expr& output : exprs) {
        const Tensor value = output.value();
        sum += kernels::sum(value.as<float>());
      }
      return sum;
    });
    result.statistics = lanes_->statistics();
    return result;
  }

  std::vector<Gradient> gradients(std::span<const std::int32_t> batch) override {
    differentiate(batch);
    std::vector<Gradient> all;
    for (const Parameter* parameter : network_->model().parameters()) {
      Gradient one{parameter->name(), std::vector<float>(static_cast<std::size_t>(parameter->value().elements()))};
      if (const espalier::Gradient* found = lanes_->gradients().find(*parameter)) {
        const Tensor whole = found->to_tensor();
        one.values.assign(whole.as<float>().begin(), whole.as<float>().end());
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  void set_profiling(bool on) override { lanes_.emplace(options_of(variant_, leaves_, on)); }

 private:
  using Part = std::span<const std::int32_t>;

  /// The sum of work(lane, part, exprs) over the lanes; `exprs` is a list that is empty.
  template <class Work>
  double sum_over_lanes(Part batch, const Work& work) {
    exprs_.resize(batch.size());
    sums_.assign(batch.size(), 0);
    sizes_.clear();
    for (const std::int32_t instance : batch) sizes_.push_back(nodes_[static_cast<std::size_t>(instance)]);
    const auto run_part = [&](train::Lane& lane, std::int64_t begin, std::int64_t end) {
      std::vector<Expr>& exprs = exprs_[static_cast<std::size_t>(begin)];
      exprs.clear();
      const Part part = batch.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
      sums_[static_cast<std::size_t>(begin)] = work(lane, part, exprs);
    };
    lanes_->run(sizes_, run_part, network_->least_in_lane());
    return std::accumulate(sums_.begin(), sums_.end(), 0.0);
  }

  /// Leaves the gradients in the lanes. Gives the loss.
  double differentiate(Part batch) {
    return sum_over_lanes(batch, [&](train::Lane& lane, Part part, std::vector<Expr>& exprs) {
      const Expr loss = record_loss(lane, part, exprs);
      loss.backward({.into = &lane.gradients, .wanted = {}});
      return loss.scalar();
    });
  }
  Expr record_loss(train::Lane& lane, Part part, std::vector<Expr>& losses) const {
    for (const std::int32_t instance : part) {
      lane.graph.begin_instance();
      network_->record_losses(lane.graph, instance, losses);
    }
    return sum(losses);
  }

  std::unique_ptr<Network> network_;
  Variant variant_;
  Leaves leaves_;
  optim::Sgd sgd_;
  std::vector<std::int64_t> nodes_;  // by instance
  std::vector<std::int64_t> sizes_;  // of the minibatch
  std::optional<train::Lanes> lanes_;
  std::vector<std::vector<Expr>> exprs_;  // of the lane whose part begins there
  std::vector<double> sums_;
};

}  // namespace

std::unique_ptr<Runner> make_espalier_runner(std::unique_ptr<Network> network, const Workload& workload,
                                             Variant variant, Leaves leaves) {
  return std::make_unique<EspalierRunner>(std::move(network), workload, variant, leaves);
}

}  // namespace espalier::bench
