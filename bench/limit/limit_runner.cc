#include "bench/limit/limit_runner.h"

#include "espalier/base/denormals.h"

namespace espalier::bench {

LimitRunner::LimitRunner(const Model& model) : weights_(model), watches_(1) {}

void LimitRunner::set_watches(bool on, bool keep_products) {
  on_ = on;
  keep_products_ = keep_products;
}

void LimitRunner::begin() {
  watches_.resize(static_cast<std::size_t>(thread_count()));
  for (Watch& watch : watches_) watch.set(on_, keep_products_);
  watch().start();
}

/// Of the first lane and all that lies outside lanes: its parts do not overlap, while those of all lanes together add
/// up to more than the minibatch took.
Statistics LimitRunner::statistics() const {
  const Watch& watch = watches_.front();
  Statistics statistics;
  statistics.seconds.products = watch.seconds(Part::kProducts) + watch.seconds(Part::kPreparation);
  statistics.seconds.maps = watch.seconds(Part::kLoops);
  statistics.seconds.planning = watch.seconds(Part::kLayout);
  statistics.seconds.update = watch.seconds(Part::kUpdate);
  return statistics;
}

BatchResult LimitRunner::train(std::span<const std::int32_t> batch) {
  const FlushDenormals flush;
  begin();
  const double loss = differentiate(batch, static_cast<float>(-kLearningRate / static_cast<double>(batch.size())));
  return {loss, statistics()};
}

BatchResult LimitRunner::infer(std::span<const std::int32_t> batch) {
  const FlushDenormals flush;
  begin();
  const double sum = evaluate(batch);
  return {sum, statistics()};
}

std::vector<Runner::Gradient> LimitRunner::gradients(std::span<const std::int32_t> batch) {
  const FlushDenormals flush;
  begin();
  weights_.begin_collecting();
  differentiate(batch, 1);
  return weights_.end_collecting();
}

}  // namespace espalier::bench
