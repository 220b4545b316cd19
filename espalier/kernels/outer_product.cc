#include "espalier/kernels/outer_product.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/outer_product.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/simd_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

void Outer(std::int64_t m, std::int64_t n, const float* x, const float* y, float* c, std::int64_t ldc,
           bool accumulate) {
  for (std::int64_t i = 0; i < m; ++i) {
    const float xi = x[i];
    float* const row = c + i * ldc;
    if (accumulate) {
      Update(y, row, static_cast<std::size_t>(n),
             [xi](auto d, auto v, auto sum) HWY_ATTR { return hn::MulAdd(hn::Set(d, xi), v, sum); });
    } else {
      Map(y, row, static_cast<std::size_t>(n), [xi](auto d, auto v) HWY_ATTR { return hn::Mul(hn::Set(d, xi), v); });
    }
  }
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(Outer);

void outer(std::int64_t m, std::int64_t n, const float* x, const float* y, float* c, std::int64_t ldc,
           bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Outer)(m, n, x, y, c, ldc, accumulate);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
