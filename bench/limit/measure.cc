#include "bench/limit/measure.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

#include "bench/suite/clock.h"
#include "espalier/base/denormals.h"

namespace espalier::bench {
namespace {

/// How often a minibatch is run in a round, all questions together.
constexpr int kRunsARound = 5;

void run(LimitRunner& limit, std::span<const std::int32_t> batch, Mode mode) {
  if (mode == Mode::kTrain)
    limit.train(batch);
  else
    limit.infer(batch);
}

/// The products of a minibatch once more, the quicker of two times.
double time_alone(const std::vector<Watch::Product>& products) {
  const FlushDenormals flush;
  double least = 0;
  for (int i = 0; i < 2; ++i) {
    const Clock::time_point start = Clock::now();
    for (const Watch::Product& product : products) product.run();
    const double seconds = seconds_since(start);
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

/// Where the time of one minibatch went, all threads together.
struct Parts {
  Parts() { seconds.fill(kNever); }
  explicit Parts(std::span<const Watch> watches) {
    for (const Watch& watch : watches) {
      for (std::size_t part = 0; part < kParts; ++part) seconds[part] += watch.seconds(static_cast<Part>(part));
      flops += static_cast<double>(watch.flops());
    }
  }
  double all() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

  static constexpr double kNever = 1e9;
  std::array<double, kParts> seconds{};
  double flops = 0;
};

/// The least over the rounds: what others do on the machine only adds.
struct Least {
  double seconds = Parts::kNever;
  double alone = Parts::kNever;
  Parts parts;
};

LimitFigures summarise(const std::vector<std::vector<std::int32_t>>& batches, const std::vector<Least>& least,
                       std::size_t threads) {
  double instances = 0;
  double seconds = 0;
  double alone = 0;
  double flops = 0;
  std::array<double, kParts> parts{};
  for (std::size_t b = 0; b < batches.size(); ++b) {
    instances += static_cast<double>(batches[b].size());
    seconds += least[b].seconds;
    alone += least[b].alone;
    flops += least[b].parts.flops;
    for (std::size_t part = 0; part < kParts; ++part) parts[part] += least[b].parts.seconds[part];
  }
  const double products = parts[static_cast<std::size_t>(Part::kProducts)];
  LimitFigures figures;
  figures.instances_per_second = instances / seconds;
  figures.gflops = flops / seconds * 1e-9;
  figures.product_gflops = flops / products * 1e-9;
  if (threads == 1) figures.product_efficiency = alone / products;
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (std::size_t part = 0; part < kParts; ++part) figures.shares[part] = parts[part] / all;
  return figures;
}

}  // namespace

LimitFigures measure_limit(LimitRunner& limit, std::vector<std::vector<std::int32_t>> batches, Mode mode, int rounds,
                           double seconds) {
  const Clock::time_point begin = Clock::now();
  std::size_t warm = 0;
  while (warm < batches.size() && seconds_since(begin) * kRunsARound * rounds < seconds)
    run(limit, batches[warm++], mode);
  batches.resize(std::max<std::size_t>(warm, 1));
  std::vector<Least> least(batches.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t b = 0; b < batches.size(); ++b) {
      Least& of_batch = least[b];
      limit.set_profiling(false);
      const Clock::time_point start = Clock::now();
      run(limit, batches[b], mode);
      of_batch.seconds = std::min(of_batch.seconds, seconds_since(start));

      limit.set_watches(/*on=*/true, /*keep_products=*/false);
      run(limit, batches[b], mode);
      const Parts parts(limit.watches());
      if (parts.all() < of_batch.parts.all()) of_batch.parts = parts;

      limit.set_watches(/*on=*/true, /*keep_products=*/true);
      run(limit, batches[b], mode);
      of_batch.alone = std::min(of_batch.alone, time_alone(limit.watches().front().products()));
    }
  limit.set_profiling(false);
  return summarise(batches, least, limit.watches().size());
}

}  // namespace espalier::bench
