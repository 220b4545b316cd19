/// How variants are measured: on the same instances, in turns, and compared with the limit that has their leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <vector>

#include "bench/suite/clock.h"
#include "bench/suite/measure.h"
#include "bench/suite/minibatches.h"
#include "bench/suite/samples.h"
#include "espalier/base/threads.h"

namespace espalier::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// One call of a runner, in the order of all.
struct Call {
  Variant variant;
  std::vector<std::int32_t> batch;
};

/// The time, which passes only while a runner works.
Clock::time_point now;

class SlowRunner : public Runner {
 public:
  SlowRunner(Variant variant, double seconds_an_instance, std::vector<Call>& calls)
      : variant_(variant), seconds_(seconds_an_instance), calls_(calls) {}

  BatchResult train(std::span<const std::int32_t> batch) override {
    calls_.push_back({variant_, {batch.begin(), batch.end()}});
    now += std::chrono::duration_cast<Clock::time_point::duration>(
        std::chrono::duration<double>(seconds_ * static_cast<double>(batch.size())));
    BatchResult result;
    result.statistics.steps = 7;
    result.statistics.bound = 5;
    result.statistics.bytes_copied = 100;
    result.statistics.peak_bytes = 1000;
    result.statistics.seconds.forward = seconds_ * static_cast<double>(batch.size());
    if (profiling_) result.statistics.seconds.products = seconds_;
    return result;
  }
  BatchResult infer(std::span<const std::int32_t> batch) override { return train(batch); }
  std::vector<Gradient> gradients(std::span<const std::int32_t>) override { return {}; }
  void set_profiling(bool on) override { profiling_ = on; }

 private:
  Variant variant_;
  double seconds_;
  std::vector<Call>& calls_;
  bool profiling_ = false;
};

class SlowWorkload : public Workload {
 public:
  std::string_view name() const override { return "B1"; }
  std::string_view title() const override { return "slow"; }
  std::string sizes() const override { return "300/150"; }
  bool is_real_data() const override { return false; }
  std::int32_t instances() const override { return 100; }
  std::int32_t nodes(std::int32_t) const override { return 10; }
  bool has_limit() const override { return true; }
  std::unique_ptr<Runner> make(Variant, Leaves) const override { return nullptr; }
};

class Measure : public ::testing::Test {
 protected:
  Measure() {
    Clock::source = [] { return now; };
  }
  ~Measure() override {
    set_thread_count(threads_);
    Clock::source = clock_;
  }

  void add(Variant variant, Leaves leaves, double seconds_an_instance) {
    contenders_.push_back({variant, leaves, std::make_unique<SlowRunner>(variant, seconds_an_instance, calls_)});
  }
  Measurement run(const Setting& setting, const Effort& effort) {
    return measure(SlowWorkload(), contenders_, setting, effort);
  }
  const std::vector<Call>& calls() const { return calls_; }

 private:
  int threads_ = thread_count();
  Clock::Source clock_ = Clock::source;
  std::vector<Contender> contenders_;
  std::vector<Call> calls_;
};

TEST_F(Measure, GivesAllVariantsTheSameInstancesInTurns) {
  add(Variant::kLimit, Leaves::kEach, 0.005);
  add(Variant::kCells, Leaves::kEach, 0.010);
  const Measurement result =
      run({.batch = 4, .mode = Mode::kTrain, .threads = 1}, {.seconds = 0.01, .least_rounds = 3, .most_rounds = 3});
  EXPECT_EQ(thread_count(), 1);
  EXPECT_THAT(result.left_out, IsEmpty());
  ASSERT_THAT(result.records, SizeIs(2));
  // A cold and a warm minibatch each, three rounds, and a profiled one each.
  ASSERT_THAT(calls(), SizeIs(2 * 2 + 3 * 2 + 2));
  std::vector<Variant> order;
  for (std::size_t round = 0; round < 3; ++round) {
    const Call& first = calls()[4 + 2 * round];
    const Call& second = calls()[5 + 2 * round];
    EXPECT_EQ(first.batch, second.batch);
    EXPECT_THAT(first.batch, SizeIs(4));
    EXPECT_NE(first.variant, second.variant);
    order.push_back(first.variant);
  }
  EXPECT_THAT(order, ElementsAre(Variant::kLimit, Variant::kCells, Variant::kLimit));

  const Record& limit = result.records[0];
  const Record& cells = result.records[1];
  EXPECT_EQ(limit.variant, Variant::kLimit);
  EXPECT_EQ(limit.ratio_to_limit, 1.0);
  EXPECT_EQ(cells.workload, "B1");
  EXPECT_EQ(cells.sizes, "300/150");
  EXPECT_EQ(cells.batch, 4);
  EXPECT_EQ(cells.rounds, 3);
  EXPECT_EQ(cells.nodes, 40);
  EXPECT_EQ(cells.steps, 7);
  EXPECT_EQ(cells.bound, 5);
  EXPECT_EQ(cells.bytes_copied, 100);
  EXPECT_EQ(cells.peak_bytes, 1000);
  ASSERT_TRUE(cells.ratio_to_limit.has_value());
  EXPECT_DOUBLE_EQ(*cells.ratio_to_limit, 0.5);
  EXPECT_DOUBLE_EQ(*cells.over_limit_ns, 500'000);  // 20 ms more for 40 nodes
  EXPECT_DOUBLE_EQ(cells.batch_seconds, 0.040);
  EXPECT_DOUBLE_EQ(cells.breakdown.forward, 0.040);
  EXPECT_DOUBLE_EQ(cells.breakdown.products, 0.010);
  EXPECT_EQ(limit.steps, 0);
}

/// Whatever was measured, the figures of a table follow from each other.
TEST_F(Measure, GivesFiguresThatFollowFromEachOther) {
  add(Variant::kLimit, Leaves::kEach, 0.0001);
  add(Variant::kCells, Leaves::kEach, 0.0002);
  const Measurement result = run({.batch = 4}, {.seconds = 0.01, .least_rounds = 4, .most_rounds = 4});
  ASSERT_THAT(result.records, SizeIs(2));
  const Record& limit = result.records[0];
  const Record& cells = result.records[1];
  EXPECT_DOUBLE_EQ(cells.instances_per_second, cells.batch / cells.batch_seconds);
  EXPECT_DOUBLE_EQ(*cells.ratio_of_medians, cells.instances_per_second / limit.instances_per_second);
  EXPECT_DOUBLE_EQ(*cells.over_limit_ns, (cells.batch_seconds - limit.batch_seconds) * 1e9 / cells.nodes);
}

TEST_F(Measure, ComparesWithTheLimitThatHasTheSameLeaves) {
  add(Variant::kLimit, Leaves::kEach, 0.002);
  add(Variant::kCells, Leaves::kOnce, 0.002);
  const Measurement result = run({.batch = 1}, {.seconds = 0.01, .least_rounds = 1, .most_rounds = 1});
  ASSERT_THAT(result.records, SizeIs(2));
  EXPECT_TRUE(result.records[0].ratio_to_limit.has_value());
  EXPECT_FALSE(result.records[1].ratio_to_limit.has_value());
}

TEST_F(Measure, LeavesOutWhatWouldTakeTooLongAndSaysSo) {
  add(Variant::kCells, Leaves::kEach, 0.0001);
  add(Variant::kUnbatched, Leaves::kEach, 0.010);
  const Measurement result = run({.batch = 100}, {.seconds = 0.2, .least_rounds = 2, .most_rounds = 2});
  ASSERT_THAT(result.records, SizeIs(1));
  ASSERT_THAT(result.left_out, SizeIs(1));
  EXPECT_THAT(result.left_out[0], ::testing::StartsWith("unbatched each (1."));
  for (const Call& call : calls()) EXPECT_TRUE(call.variant == Variant::kCells || call.batch.size() <= 2);
}

TEST(Minibatches, GiveEveryInstanceOnceBeforeAnyAgain) {
  Minibatches minibatches(10, 4);
  std::vector<std::int32_t> all;
  for (int i = 0; i < 5; ++i)
    for (const std::int32_t instance : minibatches.next()) all.push_back(instance);
  EXPECT_EQ(std::set(all.begin(), all.begin() + 10).size(), 10U);
  EXPECT_EQ(std::set(all.begin() + 10, all.end()).size(), 10U);
  EXPECT_FALSE(std::equal(all.begin(), all.begin() + 10, all.begin() + 10));
  Minibatches same(10, 4);
  EXPECT_EQ(same.next(), std::vector<std::int32_t>(all.begin(), all.begin() + 4));
}

TEST(Samples, HaveAMiddleAndASpread) {
  const std::vector<double> samples{5, 1, 4, 2, 3};
  EXPECT_DOUBLE_EQ(median(samples), 3);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 2);
  EXPECT_DOUBLE_EQ(relative_spread(samples), 2.0 / 3);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{1, 2}), 1.5);
  EXPECT_DOUBLE_EQ(relative_spread(std::vector<double>{7}), 0);
  EXPECT_DOUBLE_EQ(median({}), 0);
}

}  // namespace
}  // namespace espalier::bench
