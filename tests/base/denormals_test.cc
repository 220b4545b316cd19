/// Denormals are flushed inside, and the caller's setting comes back.
#include "espalier/base/denormals.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <thread>

#include "espalier/base/threads.h"

namespace espalier {
namespace {

/// Half of the smallest normal float, computed now and not by the compiler.
float half_of_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5F;
}

class FlushDenormalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__) && !defined(__aarch64__)
    GTEST_SKIP() << "this processor has no such setting";
#endif
  }
};

TEST_F(FlushDenormalsTest, FlushesWhileItLivesAndRestoresAfterwards) {
  EXPECT_GT(half_of_smallest(), 0.0F);
  {
    const FlushDenormals flush;
    EXPECT_TRUE(FlushDenormals::active());
    EXPECT_EQ(half_of_smallest(), 0.0F);
  }
  EXPECT_FALSE(FlushDenormals::active());
  EXPECT_GT(half_of_smallest(), 0.0F);
}

TEST_F(FlushDenormalsTest, Nests) {
  const FlushDenormals outer;
  {
    const FlushDenormals inner;
    EXPECT_TRUE(FlushDenormals::active());
  }
  EXPECT_TRUE(FlushDenormals::active());
  {
    const FlushDenormals off(false);
    EXPECT_GT(half_of_smallest(), 0.0F);
  }
  EXPECT_EQ(half_of_smallest(), 0.0F);
}

TEST_F(FlushDenormalsTest, RestoresWhenAnExceptionPasses) {
  try {
    const FlushDenormals flush;
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
    EXPECT_FALSE(FlushDenormals::active());
  }
}

TEST_F(FlushDenormalsTest, BelongsToOneThread) {
  const FlushDenormals flush;
  bool active = false;
  // A new thread may inherit the setting; what it changes stays its own.
  std::thread([&] {
    const FlushDenormals off(false);
    active = FlushDenormals::active();
  }).join();
  EXPECT_FALSE(active);
  EXPECT_TRUE(FlushDenormals::active());
}

TEST_F(FlushDenormalsTest, HoldsInEveryPartOfALoop) {
  const int before = thread_count();
  set_thread_count(4);
  for (const bool flush : {false, true, false}) {
    const FlushDenormals setting(flush);
    float results[64] = {};
    parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) results[i] = half_of_smallest();
    });
    for (const float result : results) EXPECT_EQ(result == 0.0F, flush);
  }
  set_thread_count(before);
}

}  // namespace
}  // namespace espalier
