#include "espalier/kernels/cross_entropy.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/cross_entropy.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

/// As many rows as a vector has lanes: class after class, so that a row is a lane. Lanes without a row are zero.
class Tile {
 public:
  static constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

  explicit Tile(std::int64_t classes) : classes_(static_cast<std::size_t>(classes)) {}

  HWY_INLINE void Read(const ConstRows& rows, std::int64_t begin, std::int64_t count) {
    if (count < static_cast<std::int64_t>(kLanes)) std::fill_n(values_, classes_ * kLanes, 0.0F);
    for (std::int64_t r = 0; r < count; ++r) {
      const float* const row = rows[begin + r];
      for (std::size_t k = 0; k < classes_; ++k) values_[k * kLanes + static_cast<std::size_t>(r)] = row[k];
    }
  }
  HWY_INLINE void Write(const Rows& rows, std::int64_t begin, std::int64_t count, bool store) const {
    for (std::int64_t r = 0; r < count; ++r) {
      float* const row = rows[begin + r];
      const float* const lane = values_ + r;
      if (store)
        for (std::size_t k = 0; k < classes_; ++k) row[k] = lane[k * kLanes];
      else
        for (std::size_t k = 0; k < classes_; ++k) row[k] += lane[k * kLanes];
    }
  }

  HWY_INLINE FloatVector Get(std::size_t k) const { return hn::Load(FloatTag(), values_ + k * kLanes); }
  HWY_INLINE void Set(std::size_t k, FloatVector v) { hn::Store(v, FloatTag(), values_ + k * kLanes); }
  float At(std::int32_t k, std::int64_t r) const { return values_[static_cast<std::size_t>(k) * kLanes + At(r)]; }
  void Set(std::int32_t k, std::int64_t r, float value) {
    values_[static_cast<std::size_t>(k) * kLanes + At(r)] = value;
  }

 private:
  static std::size_t At(std::int64_t r) { return static_cast<std::size_t>(r); }

  HWY_ALIGN float values_[static_cast<std::size_t>(kFewClasses) * kLanes];
  std::size_t classes_;
};

/// Calls f(begin, count) for the rows of each tile.
template <class F>
HWY_INLINE void ForTiles(std::int64_t rows, const F& f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(FloatTag()));
  for (std::int64_t begin = 0; begin < rows; begin += lanes) f(begin, std::min(lanes, rows - begin));
}

void CrossEntropy(const ConstRows& x, const std::int32_t* labels, const Rows& log_softmax, const Rows& y) {
  const FloatTag d;
  const auto classes = static_cast<std::size_t>(x.width);
  Tile tile(x.width);
  ForTiles(x.count, [&](std::int64_t begin, std::int64_t count) HWY_ATTR {
    tile.Read(x, begin, count);
    auto most = tile.Get(0);
    for (std::size_t k = 1; k < classes; ++k) most = hn::Max(most, tile.Get(k));
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < classes; ++k) {
      const auto shifted = hn::Sub(tile.Get(k), most);
      tile.Set(k, shifted);
      sum = hn::Add(sum, Exp(d, shifted));
    }
    const auto log_sum = Log(d, sum);
    for (std::size_t k = 0; k < classes; ++k) tile.Set(k, hn::Sub(tile.Get(k), log_sum));
    tile.Write(log_softmax, begin, count, /*store=*/true);
    for (std::int64_t r = 0; r < count; ++r) y[begin + r][0] = -tile.At(labels[begin + r], r);
  });
}

void CrossEntropyGradient(const ConstRows& log_softmax, const std::int32_t* labels, const ConstRows& dy, const Rows& dx,
                          bool store) {
  const FloatTag d;
  const auto classes = static_cast<std::size_t>(log_softmax.width);
  Tile tile(log_softmax.width);
  HWY_ALIGN float of_label[Tile::kLanes] = {};
  HWY_ALIGN float of_y[Tile::kLanes] = {};
  ForTiles(log_softmax.count, [&](std::int64_t begin, std::int64_t count) HWY_ATTR {
    tile.Read(log_softmax, begin, count);
    for (std::int64_t r = 0; r < count; ++r) {
      of_label[r] = tile.At(labels[begin + r], r);
      of_y[r] = dy[begin + r][0];
    }
    const auto scale = hn::Load(d, of_y);
    // Near probability 1 the difference is all rounding; expm1 keeps it exact.
    hn::Store(hn::Mul(scale, Expm1(d, hn::Load(d, of_label))), d, of_label);
    for (std::size_t k = 0; k < classes; ++k) tile.Set(k, hn::Mul(scale, Exp(d, tile.Get(k))));
    for (std::int64_t r = 0; r < count; ++r) tile.Set(labels[begin + r], r, of_label[r]);
    tile.Write(dx, begin, count, store);
  });
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(CrossEntropy);
HWY_EXPORT(CrossEntropyGradient);

void cross_entropy(const ConstRows& x, std::span<const std::int32_t> labels, const Rows& log_softmax, const Rows& y) {
  HWY_DYNAMIC_DISPATCH(CrossEntropy)(x, labels.data(), log_softmax, y);
}

void cross_entropy_gradient(const ConstRows& log_softmax, std::span<const std::int32_t> labels, const ConstRows& dy,
                            const Rows& dx, bool store) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyGradient)(log_softmax, labels.data(), dy, dx, store);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
