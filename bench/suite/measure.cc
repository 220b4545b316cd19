#include "bench/suite/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "bench/suite/clock.h"
#include "bench/suite/minibatches.h"
#include "bench/suite/products.h"
#include "bench/suite/samples.h"
#include "espalier/base/threads.h"

namespace espalier::bench {
namespace {

using Minibatch = std::vector<std::int32_t>;

constexpr double kShortestSlot = 0.01;  // seconds that a variant runs per round, so that clock jitter does not matter
constexpr double kMostMinibatches = 2000;  // per slot
constexpr double kLong = 0.5;              // seconds of a minibatch above which a cold start does not matter
constexpr std::int32_t kProbe = 2;         // instances, to predict the time of running unbatched
constexpr int kProfiled = 6;               // most minibatches
constexpr double kProfileShare = 0.03;     // of the setting's seconds, per contender
constexpr double kProductsShare = 0.15;    // the same, for products timed alone
constexpr double kUnbatchedShare = 0.2;    // of the setting's seconds that one of its rounds may take

/// One contender's part in the measurement.
struct Track {
  Contender* contender = nullptr;
  double estimate = 0;                   // seconds of a minibatch
  std::vector<double> slots{};           // seconds of each round
  std::vector<Statistics> statistics{};  // of each round
  Record record{};
};

class Measurer {
 public:
  Measurer(const Workload& workload, std::vector<Contender>& contenders, const Setting& setting, const Effort& effort)
      : workload_(workload),
        setting_(setting),
        effort_(effort),
        minibatches_(workload.instances(), setting.batch),
        started_(Clock::now()) {
    tracks_.reserve(contenders.size());
    for (Contender& contender : contenders) tracks_.push_back({.contender = &contender});
  }

  Measurement run() {
    set_thread_count(setting_.threads);
    warm_up();
    choose();
    run_rounds();
    for (Track& track : tracks_) profile(track);
    if (setting_.products && setting_.threads == 1)
      for (Track& track : tracks_)
        if (track.contender->variant == Variant::kCells || track.contender->variant == Variant::kRecursion)
          time_products(track);
    for (Track& track : tracks_) finish(track);
    return std::move(result_);
  }

 private:
  BatchResult run_one(Runner& runner, std::span<const std::int32_t> batch) const {
    return setting_.mode == Mode::kTrain ? runner.train(batch) : runner.infer(batch);
  }

  double timed(Runner& runner, std::span<const std::int32_t> batch) const {
    const Clock::time_point start = Clock::now();
    run_one(runner, batch);
    return seconds_since(start);
  }

  /// Runs one minibatch of each, which also predicts the time of the others.
  void warm_up() {
    const Minibatch batch = minibatches_.next();
    for (Track& track : tracks_) {
      Runner& runner = *track.contender->runner;
      if (track.contender->variant != Variant::kUnbatched || setting_.batch <= kProbe) {
        track.estimate = timed(runner, batch);
        if (track.estimate < kLong) track.estimate = timed(runner, batch);
        continue;
      }
      // One at a time, each instance takes the same time, however many there are.
      const std::span probe = std::span(batch).first(kProbe);
      timed(runner, probe);
      track.estimate = timed(runner, probe) * setting_.batch / kProbe;
    }
  }

  /// Skips variants that would take too long, the least informative first.
  void choose() {
    const auto leave_out = [&](Variant variant, auto also) {
      std::erase_if(tracks_, [&](const Track& track) {
        const bool out = track.contender->variant == variant && also(track);
        if (out)
          result_.left_out.push_back(
              fmt::format("{} {} ({:.1f} s)", name_of(variant), name_of(track.contender->leaves), track.estimate));
        return out;
      });
    };
    leave_out(Variant::kUnbatched,
              [&](const Track& track) { return track.estimate > kUnbatchedShare * effort_.seconds; });
    const auto too_long = [&] { return round_seconds() * effort_.least_rounds > 2 * effort_.seconds; };
    const auto always = [](const Track&) { return true; };
    const auto once = [](const Track& track) { return track.contender->leaves == Leaves::kOnce; };
    if (too_long()) leave_out(Variant::kUnbatched, always);
    if (too_long()) leave_out(Variant::kPlain, always);
    if (too_long()) {
      leave_out(Variant::kLimitDedupe, once);
      leave_out(Variant::kCells, once);
    }
  }

  double round_seconds() const {
    double sum = 0;
    for (const Track& track : tracks_) sum += track.estimate;
    return sum;
  }

  void run_rounds() {
    double least = INFINITY;
    for (const Track& track : tracks_) least = std::min(least, track.estimate);
    const double wanted = std::ceil(kShortestSlot / std::max(least, 1e-7));
    const double affordable = effort_.seconds / effort_.least_rounds / round_seconds();
    slot_minibatches_ = static_cast<std::int32_t>(std::clamp(std::min(wanted, affordable), 1.0, kMostMinibatches));
    std::vector<Minibatch> slot(static_cast<std::size_t>(slot_minibatches_));
    for (std::int32_t round = 0; round < effort_.most_rounds; ++round) {
      const double left = effort_.seconds - seconds_since(started_);
      if (round >= effort_.least_rounds && left < round_seconds() * slot_minibatches_) break;
      double nodes = 0;
      for (Minibatch& batch : slot) {
        batch = minibatches_.next();
        for (const std::int32_t instance : batch) nodes += workload_.nodes(instance);
      }
      nodes_.push_back(nodes);
      for (std::size_t i = 0; i < tracks_.size(); ++i)
        run_slot(tracks_[(i + static_cast<std::size_t>(round)) % tracks_.size()], slot);
    }
  }

  void run_slot(Track& track, const std::vector<Minibatch>& slot) const {
    Statistics& statistics = track.statistics.emplace_back();
    const Clock::time_point start = Clock::now();
    for (const Minibatch& batch : slot) statistics.add(run_one(*track.contender->runner, batch).statistics);
    track.slots.push_back(seconds_since(start));
  }

  /// Measures the parts of forward and backward separately. Of several minibatches, keeps the fastest, which was
  /// disturbed least.
  void profile(Track& track) {
    Runner& runner = *track.contender->runner;
    const Minibatch batch = minibatches_.next();
    runner.set_profiling(true);
    Breakdown& breakdown = track.record.breakdown;
    double spent = 0;
    for (int i = 0; i < kProfiled && (i == 0 || spent < kProfileShare * effort_.seconds); ++i) {
      const Clock::time_point start = Clock::now();
      const Statistics::Seconds seconds = run_one(runner, batch).statistics.seconds;
      const double took = seconds_since(start);
      spent += took;
      if (breakdown.profiled != 0 && took >= breakdown.profiled) continue;
      breakdown.profiled = took;
      breakdown.copying = seconds.copying;
      breakdown.products = seconds.products;
      breakdown.maps = seconds.maps;
      if (!is_limit(track.contender->variant)) continue;  // the limit has a breakdown only if it is profiled
      breakdown.forward = seconds.forward;
      breakdown.backward = seconds.backward;
      breakdown.update = seconds.update;
    }
    runner.set_profiling(false);
  }

  void time_products(Track& track) {
    Runner& runner = *track.contender->runner;
    track.record.products =
        measure_products([&](const Minibatch& batch) { return run_one(runner, batch).statistics; },
                         [&] { return minibatches_.next(); }, track.record.breakdown, kProductsShare * effort_.seconds);
  }

  void finish(Track& track) {
    Record& record = track.record;
    record.workload = workload_.name();
    record.sizes = workload_.sizes();
    record.batch = setting_.batch;
    record.mode = setting_.mode;
    record.threads = setting_.threads;
    record.variant = track.contender->variant;
    record.leaves = track.contender->leaves;
    record.real_data = workload_.is_real_data();
    record.rounds = static_cast<std::int32_t>(track.slots.size());
    const double instances = static_cast<double>(setting_.batch) * slot_minibatches_;
    std::vector<double> speeds;
    for (const double seconds : track.slots) speeds.push_back(instances / seconds);
    record.spread = relative_spread(speeds);
    record.batch_seconds = median(track.slots) / slot_minibatches_;
    record.instances_per_second = setting_.batch / record.batch_seconds;
    for (const double nodes : nodes_) record.nodes += nodes / static_cast<double>(nodes_.size()) / slot_minibatches_;
    compare(track);
    count(track);
    result_.records.push_back(record);
  }

  /// Compares with the limit that has the same leaves.
  void compare(Track& track) const {
    const auto limit = std::find_if(tracks_.begin(), tracks_.end(), [&](const Track& other) {
      return is_limit(other.contender->variant) && other.contender->leaves == track.contender->leaves;
    });
    if (limit == tracks_.end()) return;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < track.slots.size(); ++round)
      ratios.push_back(limit->slots[round] / track.slots[round]);
    Record& record = track.record;
    const double limit_seconds = median(limit->slots) / slot_minibatches_;
    record.ratio_to_limit = median(ratios);
    record.ratio_of_medians = limit_seconds / record.batch_seconds;
    record.over_limit_ns = (record.batch_seconds - limit_seconds) * 1e9 / record.nodes;
  }

  /// Espalier's own statistics per minibatch. Seconds come from the median round, so that they match its time; counts
  /// are means.
  void count(Track& track) const {
    if (is_limit(track.contender->variant)) return;
    Record& record = track.record;
    const double middle = median(track.slots);
    const auto nearest = std::min_element(track.slots.begin(), track.slots.end(), [&](double a, double b) {
      return std::abs(a - middle) < std::abs(b - middle);
    });
    const auto at = static_cast<std::size_t>(nearest - track.slots.begin());
    const Statistics::Seconds& seconds = track.statistics[at].seconds;
    const double scale = middle / *nearest / slot_minibatches_;
    record.breakdown.recording = seconds.recording * scale;
    record.breakdown.scheduling = seconds.scheduling * scale;
    record.breakdown.planning = seconds.planning * scale;
    record.breakdown.forward = seconds.forward * scale;
    record.breakdown.backward = seconds.backward * scale;
    record.breakdown.update = seconds.update * scale;

    Statistics all;
    for (const Statistics& round : track.statistics) all.add(round);
    const double minibatches = static_cast<double>(track.slots.size()) * slot_minibatches_;
    record.steps = static_cast<double>(all.steps) / minibatches;
    record.bound = static_cast<double>(all.bound) / minibatches;
    record.bound_is_exact = all.bound_is_exact;
    record.bytes_copied = static_cast<double>(all.bytes_copied) / minibatches;
    record.peak_bytes = all.peak_bytes;
  }

  const Workload& workload_;
  Setting setting_;
  Effort effort_;
  Minibatches minibatches_;
  Clock::time_point started_;
  std::vector<Track> tracks_;
  std::int32_t slot_minibatches_ = 1;  // per round and contender
  std::vector<double> nodes_;          // of each round
  Measurement result_;
};

}  // namespace

Measurement measure(const Workload& workload, std::vector<Contender>& contenders, const Setting& setting,
                    const Effort& effort) {
  return Measurer(workload, contenders, setting, effort).run();
}

}  // namespace espalier::bench
