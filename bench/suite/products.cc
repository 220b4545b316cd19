#include "bench/suite/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bench/suite/alone.h"
#include "bench/suite/clock.h"
#include "espalier/ops/product_log.h"

namespace espalier::bench {
namespace {

using ops::ProductKind;
using ops::ProductLog;

constexpr int kRounds = 15;  // at most

/// The time that a log adds to a call, measured on a call that does nothing.
double clock_seconds() {
  constexpr int kCalls = 1000;
  const ProductLog log;
  for (int i = 0; i < kCalls; ++i) {
    const ProductLog::Watch watch(ops::Product{});
  }
  return log.seconds() / kCalls;
}

double gflop(const ops::ProductCalls& entry) {
  const ops::Product& product = entry.product;
  return 2e-9 * static_cast<double>(product.rows * product.k * product.m * entry.calls);
}

std::string name_of(ProductKind kind, bool prepared) {
  const std::string_view name = kind == ProductKind::kForward         ? "forward"
                                : kind == ProductKind::kInputGradient ? "gradient of inputs"
                                                                      : "gradient of weights";
  return fmt::format("{}{}", name, prepared ? ", prepared" : "");
}

struct Work {
  double calls = 0;
  double gflop = 0;
  double seconds = 0;  // as they run, without the clock
  double alone = 0;
  double clock = 0;

  void add(const Work& other) {
    calls += other.calls;
    gflop += other.gflop;
    seconds += other.seconds;
    alone += other.alone;
    clock += other.clock;
  }
};

/// Of all rounds.
struct Rounds {
  std::map<std::pair<ProductKind, bool>, Work> kinds;
  Work all;
  double minibatches = 0;  // seconds
  double preparing = 0;
  Statistics statistics;
  int count = 0;
};

ProductFigures::Shares shares_of(const Rounds& rounds, const Breakdown& profiled) {
  const double whole = rounds.minibatches - rounds.all.clock;
  const Statistics::Seconds& seconds = rounds.statistics.seconds;
  ProductFigures::Shares shares;
  shares.products = rounds.all.seconds / whole;
  shares.preparing = rounds.preparing / whole;
  shares.recording = seconds.recording / whole;
  shares.scheduling = seconds.scheduling / whole;
  shares.planning = seconds.planning / whole;
  shares.update = seconds.update / whole;
  if (profiled.profiled > 0) {
    shares.copying = profiled.copying / profiled.profiled;
    shares.maps = profiled.maps / profiled.profiled;
  }
  shares.other = 1 - (shares.products + shares.preparing + shares.recording + shares.scheduling + shares.planning +
                      shares.update + shares.copying + shares.maps);
  return shares;
}

ProductFigures figures_of(const Rounds& rounds, const Breakdown& profiled) {
  ProductFigures figures;
  for (const auto& [kind, work] : rounds.kinds)
    figures.kinds.push_back({.name = name_of(kind.first, kind.second),
                             .calls = work.calls / rounds.count,
                             .gflops = work.gflop / work.seconds,
                             .alone = work.gflop / work.alone,
                             .share = work.seconds / (rounds.minibatches - rounds.all.clock)});
  if (rounds.all.calls > 0) {
    figures.gflops = rounds.all.gflop / rounds.all.seconds;
    figures.alone = rounds.all.gflop / rounds.all.alone;
    figures.clock_share = rounds.all.clock / (rounds.all.seconds + rounds.all.clock);
  }
  figures.shares = shares_of(rounds, profiled);
  return figures;
}

}  // namespace

ProductFigures measure_products(const std::function<Statistics(const std::vector<std::int32_t>&)>& run,
                                const std::function<std::vector<std::int32_t>()>& next_minibatch,
                                const Breakdown& profiled, double seconds) {
  const Clock::time_point started = Clock::now();
  AloneProducts alone;
  Rounds rounds;
  for (int round = 0; round < kRounds; ++round) {
    if (seconds_since(started) * (round + 1) > seconds * round && round > 0) break;
    run(next_minibatch());  // so that the cache is in the state of training, not of products timed alone
    const double clock = clock_seconds();
    const ProductLog log;
    const Clock::time_point start = Clock::now();
    rounds.statistics.add(run(next_minibatch()));
    rounds.minibatches += seconds_since(start);
    rounds.preparing += log.seconds_beside(ops::BesideProducts::kPreparing);
    Work work;
    for (const ops::ProductCalls& entry : log.products()) {
      const auto calls = static_cast<double>(entry.calls);
      const Work part{.calls = calls,
                      .gflop = gflop(entry),
                      .seconds = std::max(entry.seconds - calls * clock, 0.0),
                      .alone = alone.seconds(entry.product, entry.calls),
                      .clock = calls * clock};
      rounds.kinds[{entry.product.kind, entry.product.prepared}].add(part);
      work.add(part);
    }
    rounds.all.add(work);
    ++rounds.count;
  }
  return figures_of(rounds, profiled);
}

}  // namespace espalier::bench
