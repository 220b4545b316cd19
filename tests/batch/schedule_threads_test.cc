/// Threads schedule at the same time, each with memory of its own.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "espalier/batch/schedule.h"
#include "tests/batch/workloads.h"

namespace espalier::batch {
namespace {

TEST(ScheduleThreads, GiveTheSameSchedulesSideBySide) {
  Random random(1);
  const std::array graphs{random_treebank(random, 20), random_op_treebank(random, 5), random_lattices(random, 8)};
  std::array<Schedule, graphs.size()> alone;
  for (std::size_t g = 0; g < graphs.size(); ++g) alone[g] = schedule(Strategy::kFrontier, graphs[g].view());

  constexpr std::size_t kThreads = 4;
  std::array<int, kThreads> different{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t round = 0; round < 30; ++round) {
        const std::size_t g = (t + round) % graphs.size();
        const Schedule made = schedule(Strategy::kFrontier, graphs[g].view());
        if (made.order != alone[g].order || made.step_begin != alone[g].step_begin) ++different[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int count : different) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace espalier::batch
