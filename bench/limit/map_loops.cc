#include "bench/limit/map_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limit/map_loops.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "bench/limit/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::bench::HWY_NAMESPACE {

void Relu(std::int64_t numbers, float* y) {
  ForColumns(numbers, [=](auto access, std::int64_t j)
                          HWY_ATTR { access.Store(hn::Max(access.Load(y + j), hn::Zero(FloatTag())), y + j); });
}

void TanhRows(std::int64_t numbers, float* y) {
  ForColumns(numbers,
             [=](auto access, std::int64_t j) HWY_ATTR { access.Store(Tanh(FloatTag(), access.Load(y + j)), y + j); });
}

template <class Through>
HWY_INLINE void Backward(std::int64_t rows, std::int64_t width, const float* y, float* d, float* bias,
                         const Through& through) {
  ForRowBlocks(rows, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    ForColumns(width, [&](auto access, std::int64_t j) HWY_ATTR {
      auto sum = access.Load(bias + j);
      for (std::int64_t r = begin; r < end; ++r) {
        const auto v = through(access.Load(y + r * width + j), access.Load(d + r * width + j));
        access.Store(v, d + r * width + j);
        sum = hn::Add(sum, v);
      }
      access.Store(sum, bias + j);
    });
  });
}

void ReluBackward(std::int64_t rows, std::int64_t width, const float* y, float* d, float* bias) {
  Backward(rows, width, y, d, bias,
           [](auto v, auto dv) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, hn::Zero(FloatTag())), dv); });
}

void TanhBackward(std::int64_t rows, std::int64_t width, const float* y, float* d, float* bias) {
  Backward(rows, width, y, d, bias, [](auto v, auto dv) HWY_ATTR { return ThroughTanh(v, dv); });
}

}  // namespace espalier::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::bench {

HWY_EXPORT(Relu);
HWY_EXPORT(TanhRows);
HWY_EXPORT(ReluBackward);
HWY_EXPORT(TanhBackward);

void relu_rows(std::int64_t rows, std::int64_t width, float* y) { HWY_DYNAMIC_DISPATCH(Relu)(rows * width, y); }

void tanh_rows(std::int64_t rows, std::int64_t width, float* y) { HWY_DYNAMIC_DISPATCH(TanhRows)(rows * width, y); }

void relu_rows_backward(std::int64_t rows, std::int64_t width, const float* y, float* d, float* bias) {
  HWY_DYNAMIC_DISPATCH(ReluBackward)(rows, width, y, d, bias);
}

void tanh_rows_backward(std::int64_t rows, std::int64_t width, const float* y, float* d, float* bias) {
  HWY_DYNAMIC_DISPATCH(TanhBackward)(rows, width, y, d, bias);
}

}  // namespace espalier::bench
#endif  // HWY_ONCE
