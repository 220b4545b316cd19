#include "espalier/kernels/rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/rows.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/kernels/simd_math-inl.h"
#include "espalier/kernels/sizes.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

float Sum(const float* x, std::size_t n) {
  return SumOver(n, [x](auto sum, auto load) HWY_ATTR { return hn::Add(sum, load(x)); });
}

float Dot(const float* a, const float* b, std::size_t n) {
  return SumOver(n, [a, b](auto sum, auto load) HWY_ATTR { return hn::MulAdd(load(a), load(b), sum); });
}

float Max(const float* x, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const float lowest = -std::numeric_limits<float>::infinity();
  // Two chains hide the latency; the comparison of x with itself remembers NaN, which Max may drop.
  auto most0 = hn::Set(d, lowest);
  auto most1 = most0;
  auto ordered = hn::Eq(most0, most0);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto v0 = hn::LoadU(d, x + i);
    const auto v1 = hn::LoadU(d, x + i + lanes);
    most0 = hn::Max(most0, v0);
    most1 = hn::Max(most1, v1);
    ordered = hn::And(ordered, hn::And(hn::Eq(v0, v0), hn::Eq(v1, v1)));
  }
  for (; i < n; i += lanes) {
    const auto v = i + lanes <= n ? hn::LoadU(d, x + i) : LoadPart(d, x + i, n - i, lowest);
    most0 = hn::Max(most0, v);
    ordered = hn::And(ordered, hn::Eq(v, v));
  }
  if (!hn::AllTrue(d, ordered)) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(most0, most1)));
}

void AddTo(const float* x, float* y, std::size_t n) {
  Update(x, y, n, [](auto, auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
}

void AddScaled(float alpha, const float* x, float* y, std::size_t n) {
  Update(x, y, n, [alpha](auto d, auto a, auto b) HWY_ATTR { return hn::MulAdd(hn::Set(d, alpha), a, b); });
}

void Scale(float alpha, float* y, std::size_t n) {
  Map(y, y, n, [alpha](auto d, auto v) HWY_ATTR { return hn::Mul(hn::Set(d, alpha), v); });
}

void Relu(float* y, std::size_t n) {
  Map(y, y, n, [](auto d, auto v) HWY_ATTR { return hn::IfThenZeroElse(hn::Le(v, hn::Zero(d)), v); });
}

void MultiplyAdd(const float* a, const float* b, float* y, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, y + i)), d, y + i);
  }
  if (i == n) return;
  const std::size_t rest = n - i;
  StorePart(hn::MulAdd(LoadPart(d, a + i, rest), LoadPart(d, b + i, rest), LoadPart(d, y + i, rest)), d, y + i, rest);
}

/// The sum of e^(x - most).
float SumOfExp(const float* x, std::size_t n, float most) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto shift = hn::Set(d, most);
  auto sum = hn::Zero(d);
  for (std::size_t i = 0; i < n; i += lanes) {
    const auto v =
        i + lanes <= n ? hn::LoadU(d, x + i) : LoadPart(d, x + i, n - i, -std::numeric_limits<float>::infinity());
    sum = hn::Add(sum, Exp(d, hn::Sub(v, shift)));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void Softmax(const float* x, float* y, std::size_t n) {
  const float most = Max(x, n);
  Map(x, y, n, [most](auto d, auto v) HWY_ATTR { return Exp(d, hn::Sub(v, hn::Set(d, most))); });
  const float total = Sum(y, n);
  Map(y, y, n, [total](auto d, auto v) HWY_ATTR { return hn::Div(v, hn::Set(d, total)); });
}

float LogSumExp(const float* x, std::size_t n) {
  const float most = Max(x, n);
  // Also NaN and both infinities, which are the result themselves.
  if (!(std::abs(most) < std::numeric_limits<float>::infinity())) return most;
  return most + std::log(SumOfExp(x, n, most));
}

void LogSoftmax(const float* x, float* y, std::size_t n) {
  const float most = Max(x, n);
  // The largest element is subtracted apart from the logarithm: their sum would round away the small one.
  const float shift = std::log(SumOfExp(x, n, most));
  Map(x, y, n,
      [most, shift](auto d, auto v) HWY_ATTR { return hn::Sub(hn::Sub(v, hn::Set(d, most)), hn::Set(d, shift)); });
}

void ScatterAddRows(const float* in, std::size_t width, const std::int32_t* rows, std::size_t count, float* table) {
  for (std::size_t i = 0; i < count; ++i)
    AddTo(in + i * width, table + static_cast<std::size_t>(rows[i]) * width, width);
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(Sum);
HWY_EXPORT(Dot);
HWY_EXPORT(Max);
HWY_EXPORT(AddTo);
HWY_EXPORT(AddScaled);
HWY_EXPORT(Scale);
HWY_EXPORT(Relu);
HWY_EXPORT(MultiplyAdd);
HWY_EXPORT(Softmax);
HWY_EXPORT(LogSumExp);
HWY_EXPORT(LogSoftmax);
HWY_EXPORT(ScatterAddRows);

float sum(std::span<const float> x) { return HWY_DYNAMIC_DISPATCH(Sum)(x.data(), x.size()); }

float dot(std::span<const float> a, std::span<const float> b) {
  require_same_size("dot", a, b);
  return HWY_DYNAMIC_DISPATCH(Dot)(a.data(), b.data(), a.size());
}

float squared_norm(std::span<const float> x) { return dot(x, x); }

float max(std::span<const float> x) { return HWY_DYNAMIC_DISPATCH(Max)(x.data(), x.size()); }

void add(std::span<const float> x, std::span<float> y) {
  require_same_size("add", x, y);
  HWY_DYNAMIC_DISPATCH(AddTo)(x.data(), y.data(), x.size());
}

void add_scaled(float alpha, std::span<const float> x, std::span<float> y) {
  require_same_size("add_scaled", x, y);
  HWY_DYNAMIC_DISPATCH(AddScaled)(alpha, x.data(), y.data(), x.size());
}

void scale(float alpha, std::span<float> y) { HWY_DYNAMIC_DISPATCH(Scale)(alpha, y.data(), y.size()); }

void multiply_add(std::span<const float> a, std::span<const float> b, std::span<float> y) {
  require_same_size("multiply_add", a, b);
  require_same_size("multiply_add", a, y);
  HWY_DYNAMIC_DISPATCH(MultiplyAdd)(a.data(), b.data(), y.data(), a.size());
}

void relu(std::span<float> y) { HWY_DYNAMIC_DISPATCH(Relu)(y.data(), y.size()); }

void fill(float value, std::span<float> y) { std::fill(y.begin(), y.end(), value); }

void copy(std::span<const float> x, std::span<float> y) {
  require_same_size("copy", x, y);
  if (!x.empty()) std::memmove(y.data(), x.data(), x.size_bytes());
}

void softmax(std::span<const float> x, std::span<float> y) {
  require_same_size("softmax", x, y);
  HWY_DYNAMIC_DISPATCH(Softmax)(x.data(), y.data(), x.size());
}

void log_softmax(std::span<const float> x, std::span<float> y) {
  require_same_size("log_softmax", x, y);
  HWY_DYNAMIC_DISPATCH(LogSoftmax)(x.data(), y.data(), x.size());
}

float logsumexp(std::span<const float> x) { return HWY_DYNAMIC_DISPATCH(LogSumExp)(x.data(), x.size()); }

void gather_rows(const float* table, std::int64_t width, std::span<const std::int32_t> rows, float* out) {
  if (width == 0) return;
  for (const std::int32_t row : rows) {
    std::memcpy(out, table + row * width, static_cast<std::size_t>(width) * sizeof(float));
    out += width;
  }
}

void scatter_add_rows(const float* in, std::int64_t width, std::span<const std::int32_t> rows, float* table) {
  HWY_DYNAMIC_DISPATCH(ScatterAddRows)(in, static_cast<std::size_t>(width), rows.data(), rows.size(), table);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
