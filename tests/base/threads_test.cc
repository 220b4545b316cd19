/// Parallel loops: what is covered, what is thrown, and several callers at once. Label: threads.
#include "espalier/base/threads.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {
namespace {

/// Gives the tests after this one the thread count they began with.
class ThreadsTest : public ::testing::Test {
 protected:
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};
using ParallelFor = ThreadsTest;
using ThreadCount = ThreadsTest;
using RunBeside = ThreadsTest;

using Parts = std::set<std::pair<std::int64_t, std::int64_t>>;

Parts parts_of(std::int64_t n, std::int64_t grain) {
  std::mutex mutex;
  Parts parts;
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    parts.insert({begin, end});
  });
  return parts;
}

TEST_F(ParallelFor, WakesThreadsThatSleepAndWaitsForLateOnes) {
  set_thread_count(3);
  for (const int milliseconds : {0, 1, 3}) {  // threads look for a part of one before they sleep
    for (int time = 0; time < 5; ++time) {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      std::vector<int> done(3);
      parallel_for(3, 1, [&](std::int64_t begin, std::int64_t) {
        if (begin > 0) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        done[static_cast<std::size_t>(begin)] = 1;
      });
      EXPECT_EQ(done, std::vector<int>(3, 1));
    }
  }
}

TEST_F(ParallelFor, TouchesEveryElementOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    set_thread_count(threads);
    for (const std::int64_t n : {0, 1, 2, 3, 7, 8, 9, 100, 1001}) {
      for (const std::int64_t grain : {-1, 0, 1, 2, 50, 5000}) {
        std::vector<int> touched(static_cast<std::size_t>(n));
        parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++touched[static_cast<std::size_t>(i)];
        });
        EXPECT_EQ(touched, std::vector<int>(static_cast<std::size_t>(n), 1));
      }
    }
  }
}

TEST_F(ParallelFor, PartsDependOnLengthGrainAndThreadCountOnly) {
  set_thread_count(4);
  EXPECT_EQ(parts_of(10, 1), (Parts{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
  EXPECT_EQ(parts_of(10, 3), (Parts{{0, 4}, {4, 7}, {7, 10}}));
  EXPECT_EQ(parts_of(10, 5), (Parts{{0, 5}, {5, 10}}));
  EXPECT_EQ(parts_of(10, 6), (Parts{{0, 10}}));
  EXPECT_EQ(parts_of(2, 1), (Parts{{0, 1}, {1, 2}}));
  EXPECT_EQ(parts_of(-5, 1), Parts{});
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parts_of(kMost, 1).rbegin()->second, kMost);
  set_thread_count(1);
  EXPECT_EQ(parts_of(10, 1), (Parts{{0, 10}}));
}

TEST_F(ParallelFor, RunsPartsInSeveralThreads) {
  set_thread_count(2);
  // Each part waits for the other one: this ends only if both run at the same time.
  std::atomic<int> arrived{0};
  parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST_F(ParallelFor, RethrowsTheFirstExceptionByPosition) {
  for (const int threads : {1, 4}) {
    set_thread_count(threads);
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> ran{0};
      try {
        parallel_for(4, 1, [&](std::int64_t begin, std::int64_t) {
          ++ran;
          if (begin != 1) throw std::runtime_error("part " + std::to_string(begin));
        });
        FAIL() << "no exception";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "part 0");
      }
      EXPECT_EQ(ran, threads);
    }
  }
  EXPECT_EQ(parts_of(4, 1).size(), 4U) << "the pool works on after an exception";
}

TEST_F(ParallelFor, RunsInsideAnotherOneWithTheSameParts) {
  set_thread_count(3);
  const Parts alone = parts_of(100, 10);
  std::mutex mutex;
  std::vector<Parts> nested;
  parallel_for(3, 1, [&](std::int64_t, std::int64_t) {
    const std::thread::id self = std::this_thread::get_id();
    Parts parts;
    parallel_for(100, 10, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      parts.insert({begin, end});
    });
    const std::lock_guard lock(mutex);
    nested.push_back(parts);
  });
  EXPECT_EQ(nested, (std::vector<Parts>{alone, alone, alone}));
}

TEST_F(ParallelFor, HasOtherThreadsOutsideOfLoopsOnly) {
  set_thread_count(1);
  EXPECT_FALSE(has_other_threads());
  set_thread_count(3);
  EXPECT_TRUE(has_other_threads());
  parallel_for(3, 1, [](std::int64_t, std::int64_t) { EXPECT_FALSE(has_other_threads()); });
  {
    const OneThread one;
    EXPECT_FALSE(has_other_threads());
  }
  EXPECT_TRUE(has_other_threads());
}

TEST_F(ParallelFor, NestedExceptionsReachTheCaller) {
  set_thread_count(2);
  EXPECT_THROW(parallel_for(2, 1,
                            [](std::int64_t, std::int64_t) {
                              parallel_for(2, 1, [](std::int64_t begin, std::int64_t) {
                                if (begin == 1) throw std::out_of_range("inner");
                              });
                            }),
               std::out_of_range);
}

TEST_F(ParallelFor, ServesTwoCallersAtTheSameTime) {
  set_thread_count(3);
  const auto sums_are_right = [](int rounds) {
    bool right = true;
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::int64_t> values(300);
      parallel_for(300, 7, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] = i;
      });
      right = right && std::accumulate(values.begin(), values.end(), std::int64_t{0}) == 299 * 300 / 2;
    }
    return right;
  };
  bool first = false;
  bool second = false;
  std::thread one([&] { first = sums_are_right(300); });
  std::thread two([&] { second = sums_are_right(300); });
  one.join();
  two.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST_F(ParallelFor, MayRunWhileTheThreadCountChanges) {
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop) {
      std::atomic<std::int64_t> covered{0};
      parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) { covered += end - begin; });
      EXPECT_EQ(covered, 64);
    }
  });
  for (int round = 0; round < 50; ++round) set_thread_count(1 + round % 4);
  stop = true;
  caller.join();
}

TEST_F(ParallelFor, TakesCallablesThatAreConstOrCannotBeCopied) {
  set_thread_count(2);
  std::atomic<int> sum{0};
  struct Adder {
    explicit Adder(std::atomic<int>& sum_of_all) : total(&sum_of_all) {}
    Adder(const Adder&) = delete;
    Adder& operator=(const Adder&) = delete;
    void operator()(std::int64_t begin, std::int64_t end) const { *total += static_cast<int>(end - begin); }
    std::atomic<int>* total;
  };
  const Adder adder(sum);
  parallel_for(10, 1, adder);
  EXPECT_EQ(sum, 10);
}

TEST_F(ThreadCount, IsWhatWasSet) {
  set_thread_count(5);
  EXPECT_EQ(thread_count(), 5);
}

TEST_F(ThreadCount, RefusesCountsOutOfRange) {
  for (const int count : {0, -1, 1025}) {
    try {
      set_thread_count(count);
      FAIL() << "no exception";
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()), "the thread count must be from 1 to 1024, not " + std::to_string(count));
    }
  }
}

TEST_F(ThreadCount, RefusesToChangeInsideALoop) {
  set_thread_count(2);
  EXPECT_THROW(parallel_for(2, 1, [](std::int64_t, std::int64_t) { set_thread_count(3); }), UsageError);
  EXPECT_EQ(thread_count(), 2);
}

/// The count, or -1 if it was refused with the right sentence.
int count_with(const char* text) {
  setenv("ESPALIER_THREADS", text, 1);
  try {
    return detail::thread_count_from_environment();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "ESPALIER_THREADS is \"" + std::string(text) + "\"; it must be a whole number from 1 to 1024");
    return -1;
  }
}

TEST_F(ThreadCount, ComesFromTheEnvironment) {
  const char* const before = std::getenv("ESPALIER_THREADS");
  const std::string kept = before == nullptr ? "" : before;
  EXPECT_EQ(count_with("1"), 1);
  EXPECT_EQ(count_with("3"), 3);
  EXPECT_EQ(count_with("1024"), 1024);
  for (const char* const text : {"", "0", "-1", "1025", "two", "2.5", "2 ", " 2", "+2", "99999999999999999999"}) {
    EXPECT_EQ(count_with(text), -1) << text;
  }
  unsetenv("ESPALIER_THREADS");
  EXPECT_GE(detail::thread_count_from_environment(), 1);
  if (before != nullptr) setenv("ESPALIER_THREADS", kept.c_str(), 1);
}

// --- two things at once ----------------------------------------------------------------------------------------------

/// Looks until another thread has set it, for ten seconds at most.
bool becomes_true(const std::atomic<bool>& flag) {
  for (int i = 0; i < 10'000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return flag;
}

TEST_F(RunBeside, RunsBothAtOnce) {
  set_thread_count(2);
  for (int time = 0; time < 20; ++time) {
    if (time % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // threads sleep by then
    std::atomic<bool> here_began{false};
    std::atomic<bool> beside_began{false};
    bool met_here = false;
    bool met_beside = false;
    run_beside(
        [&] {
          here_began = true;
          met_here = becomes_true(beside_began);
        },
        [&] {
          beside_began = true;
          met_beside = becomes_true(here_began);
        });
    EXPECT_TRUE(met_here);
    EXPECT_TRUE(met_beside);
  }
}

TEST_F(RunBeside, RunsHereFirstWhereThereIsOneThread) {
  set_thread_count(1);
  std::string order;
  run_beside([&] { order += "here "; }, [&] { order += "beside"; });
  EXPECT_EQ(order, "here beside");
  set_thread_count(4);
  std::array<std::string, 4> orders;
  parallel_for(4, 1, [&](std::int64_t begin, std::int64_t) {  // parts of a loop have no other threads
    std::string& own = orders[static_cast<std::size_t>(begin)];
    run_beside([&] { own += "here "; }, [&] { own += "beside"; });
  });
  for (const std::string& own : orders) EXPECT_EQ(own, "here beside");
}

TEST_F(RunBeside, LoopsOfBothHaveAllTheirParts) {
  for (const int threads : {2, 3}) {
    set_thread_count(threads);
    for (int time = 0; time < 200; ++time) {
      std::vector<int> here(100);
      std::vector<int> beside(100);
      const auto count_in = [](std::vector<int>& counts) {
        parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(i)];
        });
      };
      run_beside([&] { count_in(here); }, [&] { count_in(beside); });
      ASSERT_EQ(here, std::vector<int>(100, 1));
      ASSERT_EQ(beside, std::vector<int>(100, 1));
    }
  }
}

TEST_F(RunBeside, FinishesBothBeforeAnExceptionComesOut) {
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    bool done = false;
    EXPECT_THROW(run_beside([] { throw std::logic_error("here"); }, [&] { done = true; }), std::logic_error);
    EXPECT_TRUE(done);
    done = false;
    EXPECT_THROW(run_beside([&] { done = true; }, [] { throw std::range_error("beside"); }), std::range_error);
    EXPECT_TRUE(done);
    EXPECT_THROW(run_beside([] { throw std::logic_error("here"); }, [] { throw std::range_error("beside"); }),
                 std::logic_error);
  }
}

TEST_F(RunBeside, ServesSeveralCallers) {
  set_thread_count(3);
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int time = 0; time < 200; ++time) run_beside([&] { ++done; }, [&] { ++done; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(done, 4 * 200 * 2);
}

}  // namespace
}  // namespace espalier
