/// Blocks of small products: a few rows by a few vectors of columns, held in registers while all terms pass.
///
/// A number is the sum of its terms in a fixed number of chains: every kChains-th term goes into one chain, and the
/// chains are added at the end. So its bits do not depend on the block that it is computed in.
///
/// Internal: include after hwy/foreach_target.h and hwy/highway.h, from a file compiled once a target.

#if defined(ESPALIER_KERNELS_SMALL_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)  // NOLINT: Highway's once-a-target guard
#ifdef ESPALIER_KERNELS_SMALL_BLOCK_INL_H_
#undef ESPALIER_KERNELS_SMALL_BLOCK_INL_H_
#else
#define ESPALIER_KERNELS_SMALL_BLOCK_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/tensor/rows.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

/// Rows of a block: with two vectors and two chains, or one vector and four, their sums take 24 of 32 registers, or 12
/// of 16. The others hold what is multiplied.
constexpr std::int64_t kBlockRows = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
/// So few rows are multiplied by four vectors at a time, which reads the matrix in longer runs.
constexpr std::int64_t kFewRows = HWY_TARGET <= HWY_AVX3 ? 3 : 1;

/// Keeps a vector in a register: g++ would rather load it again for each of two or three rows.
HWY_INLINE void KeepInRegister([[maybe_unused]] FloatVector& v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(v.raw));
#endif
}

/// The terms of y = x W for kRows rows of x: term p is x[row][p] by row p of W.
template <std::int64_t kRows>
class TermsOfRows {
 public:
  HWY_INLINE TermsOfRows(const ConstRows& x, std::int64_t first, const float* w, std::int64_t next)
      : w_(w), next_(next), count_(x.width) {
    for (std::int64_t i = 0; i < kRows; ++i) x_[i] = x[first + i];
  }
  HWY_INLINE std::int64_t count() const { return count_; }
  HWY_INLINE const float* vectors(std::int64_t p) const { return w_ + p * next_; }
  /// factor(i) of the term belongs to row i.
  HWY_INLINE auto factors(std::int64_t p) const {
    return [this, p](std::int64_t i) { return x_[i][p]; };
  }

 private:
  const float* x_[kRows];
  const float* w_;
  std::int64_t next_;
  std::int64_t count_;
};

/// The terms of dW = x^T dy over rows begin to end - 1, for rows of dW from `row` on: term p is x[begin + p][row] by
/// row begin + p of dy.
class TermsOfGradient {
 public:
  HWY_INLINE TermsOfGradient(const ConstRows& x, std::int64_t row, const ConstRows& dy, std::int64_t column,
                             std::int64_t begin, std::int64_t end)
      : x_(x), dy_(dy), begin_(begin), count_(end - begin) {
    x_.data += row;
    dy_.data += column;
  }
  HWY_INLINE std::int64_t count() const { return count_; }
  HWY_INLINE const float* vectors(std::int64_t p) const { return dy_[begin_ + p]; }
  HWY_INLINE auto factors(std::int64_t p) const {
    return [x = x_[begin_ + p]](std::int64_t i) { return x[i]; };
  }

 private:
  ConstRows x_;
  ConstRows dy_;
  std::int64_t begin_;
  std::int64_t count_;
};

/// What the op relu makes of x: NaN passes.
HWY_INLINE FloatVector ReluOf(FloatVector x) { return hn::IfThenZeroElse(hn::Le(x, hn::Zero(FloatTag())), x); }

/// The sums of a block. If it is kPartial, its last vector has `last` columns only.
template <std::int64_t kChains, std::int64_t kRows, std::int64_t kVectors, bool kPartial>
class Block {
 public:
  // Loops over arrays of vectors must be unrolled: registers have no index.
  template <class Terms>
  HWY_INLINE Block(const Terms& terms, std::int64_t last) : last_(static_cast<std::size_t>(last)) {
    FloatVector chains[kChains][kRows][kVectors];
    HWY_UNROLL(8)
    for (auto& chain : chains) {
      HWY_UNROLL(8)
      for (auto& row : chain) {
        HWY_UNROLL(8)
        for (auto& sum : row) sum = hn::Zero(FloatTag());
      }
    }
    std::int64_t p = 0;
    for (; p + kChains <= terms.count(); p += kChains) {
      HWY_UNROLL(8)
      for (std::int64_t c = 0; c < kChains; ++c) AddTerm(terms, p + c, chains[c]);
    }
    HWY_UNROLL(8)
    for (std::int64_t c = 0; c < kChains - 1; ++c)
      if (p + c < terms.count()) AddTerm(terms, p + c, chains[c]);
    HWY_UNROLL(8)
    for (std::int64_t i = 0; i < kRows; ++i) {
      HWY_UNROLL(8)
      for (std::int64_t v = 0; v < kVectors; ++v) {
        sums_[i][v] = hn::Add(chains[0][i][v], chains[1][i][v]);
        if constexpr (kChains == 4) sums_[i][v] = hn::Add(sums_[i][v], hn::Add(chains[2][i][v], chains[3][i][v]));
      }
    }
  }

  /// Puts row i where target(i) says, or adds it: row after row, because several may have the same target. `bias` may
  /// be null. With `relu`, what is negative then becomes 0.
  template <class Target>
  HWY_INLINE void Put(const float* bias, bool accumulate, bool relu, const Target& target) const {
    FloatVector biases[kVectors];
    HWY_UNROLL(8)
    for (std::int64_t v = 0; v < kVectors; ++v) biases[v] = bias == nullptr ? hn::Zero(FloatTag()) : Load(bias, v);
    HWY_UNROLL(8)
    for (std::int64_t i = 0; i < kRows; ++i) {
      float* const to = target(i);
      HWY_UNROLL(8)
      for (std::int64_t v = 0; v < kVectors; ++v) {
        auto sum = sums_[i][v];
        if (bias != nullptr) sum = hn::Add(sum, biases[v]);
        if (accumulate) sum = hn::Add(sum, Load(to, v));
        if (relu) sum = ReluOf(sum);
        Store(sum, to, v);
      }
    }
  }

 private:
  template <class Terms>
  HWY_INLINE void AddTerm(const Terms& terms, std::int64_t p, FloatVector (&sums)[kRows][kVectors]) const {
    const float* const from = terms.vectors(p);
    const auto factor = terms.factors(p);
    FloatVector vectors[kVectors];
    HWY_UNROLL(8)
    for (std::int64_t v = 0; v < kVectors; ++v) {
      vectors[v] = Load(from, v);
      if constexpr (kRows == 2 || kRows == 3) KeepInRegister(vectors[v]);
    }
    HWY_UNROLL(8)
    for (std::int64_t i = 0; i < kRows; ++i) {
      const auto x = hn::Set(FloatTag(), factor(i));
      HWY_UNROLL(8)
      for (std::int64_t v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(x, vectors[v], sums[i][v]);
    }
  }
  HWY_INLINE FloatVector Load(const float* from, std::int64_t v) const {
    const FloatTag d;
    const float* const at = from + v * static_cast<std::int64_t>(hn::Lanes(d));
    return kPartial && v == kVectors - 1 ? LoadPart(d, at, last_) : hn::LoadU(d, at);
  }
  HWY_INLINE void Store(FloatVector value, float* to, std::int64_t v) const {
    const FloatTag d;
    float* const at = to + v * static_cast<std::int64_t>(hn::Lanes(d));
    if (kPartial && v == kVectors - 1)
      StorePart(value, d, at, last_);
    else
      hn::StoreU(value, d, at);
  }

  FloatVector sums_[kRows][kVectors];
  std::size_t last_;
};

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ESPALIER_KERNELS_SMALL_BLOCK_INL_H_
