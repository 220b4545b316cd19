/// ESPALIER_SIMD. The tests of kernels and of the executor run once more with each limit that changes something.
#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl.h>

#include <cstdlib>
#include <string>

#include "espalier/base/error.h"
#include "espalier/kernels/simd_limit.h"
#include "hwy/targets.h"

namespace espalier::kernels {
namespace {

TEST(SimdLimit, RefusesUnknownNames) {
  for (const char* const name : {"avx3", "", "AVX2"}) {
    try {
      limit_simd(name);
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), "ESPALIER_SIMD is \"" + std::string(name) + "\": expected avx512, avx2 or sse4");
    }
  }
  EXPECT_NO_THROW(require_known_simd_limit());
}

TEST(SimdLimit, OfTheEnvironmentHoldsForHighwayAndOneDnn) {
  const char* const variable = std::getenv("ESPALIER_SIMD");
  const std::string limit = variable == nullptr ? "avx512" : variable;
  const std::int64_t targets = hwy::SupportedTargets();
  if (limit == "avx512") {
    EXPECT_EQ(dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core, (targets & HWY_AVX3) != 0);
  } else {
    EXPECT_EQ(targets & (HWY_AVX2 - 1), 0);
    EXPECT_LE(dnnl_get_effective_cpu_isa(), dnnl_cpu_isa_avx2);
  }
  if (limit == "sse4") {
    EXPECT_EQ(targets & (HWY_SSE4 - 1), 0);
    EXPECT_LE(dnnl_get_effective_cpu_isa(), dnnl_cpu_isa_sse41);
  }
}

}  // namespace
}  // namespace espalier::kernels
