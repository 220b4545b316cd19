#include "bench/limit/measure.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>

#include "espalier/base/denormals.h"

namespace espalier::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void run(LimitRunner& limit, std::span<const std::int32_t> batch, Mode mode) {
  if (mode == Mode::kTrain)
    limit.train(batch);
  else
    limit.infer(batch);
}

/// The products of a minibatch once more, the quicker of two times.
double time_alone(const std::vector<std::function<void()>>& products) {
  const FlushDenormals flush;
  double least = 0;
  for (int i = 0; i < 2; ++i) {
    const Clock::time_point start = Clock::now();
    for (const std::function<void()>& product : products) product();
    const double seconds = seconds_since(start);
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

LimitFigures measure_limit(LimitRunner& limit, const std::vector<std::vector<std::int32_t>>& batches, Mode mode,
                           int rounds) {
  LimitFigures figures;
  std::size_t instances = 0;
  for (const std::vector<std::int32_t>& batch : batches) {
    instances += batch.size();
    run(limit, batch, mode);
  }

  std::vector<double> times;
  std::array<double, kParts> seconds{};
  double alone = 0;
  double flops = 0;
  for (int round = 0; round < rounds; ++round) {
    limit.set_profiling(false);
    const Clock::time_point start = Clock::now();
    for (const std::vector<std::int32_t>& batch : batches) run(limit, batch, mode);
    times.push_back(seconds_since(start));

    for (const std::vector<std::int32_t>& batch : batches) {
      limit.set_watches(/*on=*/true, /*keep_products=*/false);
      run(limit, batch, mode);
      for (const Watch& watch : limit.watches()) {
        for (std::size_t part = 0; part < kParts; ++part) seconds[part] += watch.seconds(static_cast<Part>(part));
        flops += static_cast<double>(watch.flops());
      }
      if (limit.watches().size() > 1) continue;
      limit.set_watches(/*on=*/true, /*keep_products=*/true);
      run(limit, batch, mode);
      alone += time_alone(limit.watches().front().products());
    }
  }
  limit.set_profiling(false);

  double all = 0;
  for (const double part : seconds) all += part;
  for (std::size_t part = 0; part < kParts; ++part) figures.shares[part] = seconds[part] / all;
  const double products = seconds[static_cast<std::size_t>(Part::kProducts)];
  const double median = median_of(times);
  figures.instances_per_second = static_cast<double>(instances) / median;
  figures.gflops = flops / rounds / median * 1e-9;
  figures.product_gflops = flops / products * 1e-9;
  figures.product_efficiency = alone / products;
  return figures;
}

}  // namespace espalier::bench
