#include "espalier/kernels/math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/math.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/kernels/simd_math-inl.h"
#include "espalier/kernels/sizes.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

struct ExpOf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Exp(d, x);
  }
};
struct Expm1Of {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Expm1(d, x);
  }
};
struct LogOf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Log(d, x);
  }
};
struct Log1pOf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Log1p(d, x);
  }
};
struct TanhOf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Tanh(d, x);
  }
};
struct SigmoidOf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Sigmoid(d, x);
  }
};
struct ErfOf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Erf(d, x);
  }
};
struct SoftplusOf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Softplus(d, x);
  }
};

void ExpMap(const float* x, float* y, std::size_t n) { Map(x, y, n, ExpOf()); }
void Expm1Map(const float* x, float* y, std::size_t n) { Map(x, y, n, Expm1Of()); }
void LogMap(const float* x, float* y, std::size_t n) { Map(x, y, n, LogOf()); }
void Log1pMap(const float* x, float* y, std::size_t n) { Map(x, y, n, Log1pOf()); }
void TanhMap(const float* x, float* y, std::size_t n) { Map(x, y, n, TanhOf()); }
void SigmoidMap(const float* x, float* y, std::size_t n) { Map(x, y, n, SigmoidOf()); }
void ErfMap(const float* x, float* y, std::size_t n) { Map(x, y, n, ErfOf()); }
void SoftplusMap(const float* x, float* y, std::size_t n) { Map(x, y, n, SoftplusOf()); }

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(ExpMap);
HWY_EXPORT(Expm1Map);
HWY_EXPORT(LogMap);
HWY_EXPORT(Log1pMap);
HWY_EXPORT(TanhMap);
HWY_EXPORT(SigmoidMap);
HWY_EXPORT(ErfMap);
HWY_EXPORT(SoftplusMap);

void exp(std::span<const float> x, std::span<float> y) {
  require_same_size("exp", x, y);
  HWY_DYNAMIC_DISPATCH(ExpMap)(x.data(), y.data(), x.size());
}

void expm1(std::span<const float> x, std::span<float> y) {
  require_same_size("expm1", x, y);
  HWY_DYNAMIC_DISPATCH(Expm1Map)(x.data(), y.data(), x.size());
}

void log(std::span<const float> x, std::span<float> y) {
  require_same_size("log", x, y);
  HWY_DYNAMIC_DISPATCH(LogMap)(x.data(), y.data(), x.size());
}

void log1p(std::span<const float> x, std::span<float> y) {
  require_same_size("log1p", x, y);
  HWY_DYNAMIC_DISPATCH(Log1pMap)(x.data(), y.data(), x.size());
}

void tanh(std::span<const float> x, std::span<float> y) {
  require_same_size("tanh", x, y);
  HWY_DYNAMIC_DISPATCH(TanhMap)(x.data(), y.data(), x.size());
}

void sigmoid(std::span<const float> x, std::span<float> y) {
  require_same_size("sigmoid", x, y);
  HWY_DYNAMIC_DISPATCH(SigmoidMap)(x.data(), y.data(), x.size());
}

void erf(std::span<const float> x, std::span<float> y) {
  require_same_size("erf", x, y);
  HWY_DYNAMIC_DISPATCH(ErfMap)(x.data(), y.data(), x.size());
}

void softplus(std::span<const float> x, std::span<float> y) {
  require_same_size("softplus", x, y);
  HWY_DYNAMIC_DISPATCH(SoftplusMap)(x.data(), y.data(), x.size());
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
