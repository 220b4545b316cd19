#include "espalier/kernels/simd_limit.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>

#include "espalier/base/error.h"
#include "espalier/kernels/onednn.h"
#include "hwy/targets.h"

namespace espalier::kernels {
namespace {

struct SimdLimit {
  std::string_view name;
  std::int64_t best;  // Highway's target; better ones are the lower bits
  dnnl_cpu_isa_t isa;
};

constexpr std::array kSimdLimits{SimdLimit{"avx512", 1, dnnl_cpu_isa_all},
                                 SimdLimit{"avx2", HWY_AVX2, dnnl_cpu_isa_avx2},
                                 SimdLimit{"sse4", HWY_SSE4, dnnl_cpu_isa_sse41}};

/// What is wrong with ESPALIER_SIMD, if anything is. The library is being loaded when this runs: nobody could catch it.
std::exception_ptr limit_from_environment() {
  const char* const name = std::getenv("ESPALIER_SIMD");
  if (name == nullptr) return nullptr;
  try {
    limit_simd(name);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

const std::exception_ptr simd_problem = limit_from_environment();

}  // namespace

void limit_simd(std::string_view name) {
  for (const SimdLimit& limit : kSimdLimits) {
    if (limit.name != name) continue;
    hwy::DisableTargets(limit.best - 1);
    dnnl_set_max_cpu_isa(limit.isa);  // refused once oneDNN has run: then its choice is made
    return;
  }
  throw UsageError(fmt::format("ESPALIER_SIMD is \"{}\": expected avx512, avx2 or sse4", name));
}

void require_known_simd_limit() {
  if (simd_problem) std::rethrow_exception(simd_problem);
}

}  // namespace espalier::kernels
