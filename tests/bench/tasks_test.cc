/// The workloads of tasks: one at a time, all at once and written by hand, they decide alike.
#include "bench/workloads/tasks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "espalier/base/threads.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kInstances = 40;

TaggedSentences sentences() {
  return std::make_shared<const DataSet<TaggedSentence>>(tagged_sentences({}, {.count = kInstances, .seed = 7}));
}

std::vector<std::int32_t> all() {
  std::vector<std::int32_t> batch(kInstances);
  std::iota(batch.begin(), batch.end(), 0);
  return batch;
}

/// By each variant that there is.
std::vector<double> sums_of(const Workload& workload) {
  std::vector<double> sums;
  for (const Variant variant : {Variant::kUnbatched, Variant::kCells, Variant::kLimit})
    for (const Leaves leaves : {Leaves::kOnce, Leaves::kEach})
      if (const std::unique_ptr<Runner> runner = workload.make(variant, leaves))
        sums.push_back(runner->infer(all()).loss);
  return sums;
}

TEST(TaskWorkloads, DecodeAlike) {
  const std::vector<double> sums = sums_of(*decoding_workload(sentences(), 50, 16));
  ASSERT_EQ(sums.size(), 6);
  EXPECT_GT(sums[0], 0);
  for (const double sum : sums) EXPECT_EQ(sum, sums[0]);
}

TEST(TaskWorkloads, ParseAlike) {
  const std::vector<double> sums = sums_of(*parsing_workload(sentences(), 8));
  ASSERT_EQ(sums.size(), 4);
  EXPECT_GT(sums[0], 0);
  for (const double sum : sums) EXPECT_EQ(sum, sums[0]);
}

TEST(TaskWorkloads, AllInstancesRunTogether) {
  const auto workload = decoding_workload(sentences(), 50, 16);
  const int before = thread_count();
  set_thread_count(1);
  const Statistics together = workload->make(Variant::kCells, Leaves::kEach)->infer(all()).statistics;
  const Statistics alone = workload->make(Variant::kUnbatched, Leaves::kEach)->infer(all()).statistics;
  set_thread_count(before);
  EXPECT_EQ(together.nodes, alone.nodes);
  EXPECT_LT(8 * together.steps, alone.steps);
}

}  // namespace
}  // namespace espalier::bench
