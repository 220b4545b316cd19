#include "bench/suite/espalier_runner.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/sum.h"
#include "espalier/optim/sgd.h"

namespace espalier::bench {
namespace {

using Clock = std::chrono::steady_clock;

GraphOptions options_of(Variant variant, Leaves leaves, bool profile) {
  GraphOptions options;
  options.memoise = leaves == Leaves::kOnce ? Memoise::kLookups : Memoise::kOff;
  options.profile = profile;
  switch (variant) {
    case Variant::kCells: break;
    case Variant::kPlain: options.expand_cells = true; break;
    case Variant::kUnbatched: options.strategy = Strategy::kNone; break;
    default: throw UsageError("espalier runner: the limit is no variant of Espalier");
  }
  return options;
}

class EspalierRunner : public Runner {
 public:
  EspalierRunner(std::unique_ptr<Network> network, Variant variant, Leaves leaves)
      : network_(std::move(network)), variant_(variant), leaves_(leaves), sgd_(network_->model(), {}) {
    set_profiling(false);
  }

  BatchResult train(std::span<const std::int32_t> batch) override {
    BatchResult result;
    result.loss = differentiate(batch);
    const Clock::time_point start = Clock::now();
    sgd_.set_learning_rate(kLearningRate / static_cast<double>(batch.size()));
    sgd_.step();
    result.statistics = graph_->statistics();
    result.statistics.seconds.update += std::chrono::duration<double>(Clock::now() - start).count();
    return result;
  }

  BatchResult infer(std::span<const std::int32_t> batch) override {
    graph_->clear();
    exprs_.clear();
    for (const std::int32_t instance : batch) {
      graph_->begin_instance();
      network_->record_outputs(*graph_, instance, exprs_);
    }
    graph_->finish(exprs_);
    BatchResult result;
    for (const Expr& output : exprs_) {
      const Tensor value = output.value();
      for (const float number : value.as<float>()) result.loss += number;
    }
    result.statistics = graph_->statistics();
    return result;
  }

  std::vector<Gradient> gradients(std::span<const std::int32_t> batch) override {
    differentiate(batch);
    std::vector<Gradient> all;
    for (const Parameter* parameter : network_->model().parameters()) {
      Gradient one{parameter->name(), std::vector<float>(static_cast<std::size_t>(parameter->value().elements()))};
      if (const espalier::Gradient* found = network_->model().gradients().find(*parameter)) {
        const Tensor whole = found->to_tensor();
        one.values.assign(whole.as<float>().begin(), whole.as<float>().end());
      }
      all.push_back(std::move(one));
    }
    network_->model().gradients().clear();
    return all;
  }

  void set_profiling(bool on) override { graph_.emplace(options_of(variant_, leaves_, on)); }

 private:
  /// Leaves the gradients in the model. Gives the loss.
  double differentiate(std::span<const std::int32_t> batch) {
    graph_->clear();
    exprs_.clear();
    for (const std::int32_t instance : batch) {
      graph_->begin_instance();
      network_->record_losses(*graph_, instance, exprs_);
    }
    const Expr loss = sum(exprs_);
    loss.backward();
    return loss.scalar();
  }

  std::unique_ptr<Network> network_;
  Variant variant_;
  Leaves leaves_;
  optim::Sgd sgd_;
  std::optional<Graph> graph_;
  std::vector<Expr> exprs_;
};

}  // namespace

std::unique_ptr<Runner> make_espalier_runner(std::unique_ptr<Network> network, Variant variant, Leaves leaves) {
  return std::make_unique<EspalierRunner>(std::move(network), variant, leaves);
}

}  // namespace espalier::bench
