#include "bench/limit/head_loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limit/head_loops.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "bench/limit/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::bench::HWY_NAMESPACE {

/// The loss of a vector of rows is log(sum of e^(s - most)) - (s of its label - most).
double Losses(const ScoreRows& s, std::int64_t begin, std::int64_t end, const std::int32_t* labels, float scale) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto scales = hn::Set(d, scale);
  double loss = 0;
  ForColumns(end - begin, [&](auto access, std::int64_t column) HWY_ATTR {
    float* values = s.values + begin + column;
    const auto score = [&](std::int64_t k)
                           HWY_ATTR { return hn::Add(access.Load(values + k * s.rows), hn::Set(d, s.bias[k])); };
    auto most = score(0);
    for (std::int64_t k = 1; k < s.classes; ++k) most = hn::Max(most, score(k));
    HWY_ALIGN std::int32_t own[HWY_MAX_BYTES / sizeof(std::int32_t)] = {};
    const auto lanes = std::min(static_cast<std::int64_t>(hn::Lanes(d)), end - begin - column);
    for (std::int64_t l = 0; l < lanes; ++l) own[l] = labels[begin + column + l];
    const auto label = hn::Load(di, own);
    auto sum = hn::Zero(d);
    auto of_label = hn::Zero(d);
    for (std::int64_t k = 0; k < s.classes; ++k) {
      const auto shifted = hn::Sub(score(k), most);
      const auto is_label = hn::RebindMask(d, hn::Eq(label, hn::Set(di, static_cast<std::int32_t>(k))));
      of_label = hn::IfThenElse(is_label, shifted, of_label);
      const auto e = kernels::HWY_NAMESPACE::Exp(d, shifted);
      sum = hn::Add(sum, e);
      access.Store(e, values + k * s.rows);
    }
    const auto inverse = hn::Div(hn::Set(d, 1.0F), sum);
    for (std::int64_t k = 0; k < s.classes; ++k) {
      const auto is_label = hn::RebindMask(d, hn::Eq(label, hn::Set(di, static_cast<std::int32_t>(k))));
      const auto p = hn::Mul(access.Load(values + k * s.rows), inverse);
      const auto difference = hn::Sub(p, hn::IfThenElseZero(is_label, hn::Set(d, 1.0F)));
      access.Store(hn::Mul(scales, difference), values + k * s.rows);
    }
    const auto losses = hn::Sub(kernels::HWY_NAMESPACE::Log(d, sum), of_label);
    const auto real = hn::FirstN(d, static_cast<std::size_t>(lanes));
    loss += hn::GetLane(hn::SumOfLanes(d, hn::IfThenElseZero(real, losses)));
  });
  return loss;
}

}  // namespace espalier::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::bench {

HWY_EXPORT(Losses);

double cross_entropy_losses(const ScoreRows& scores, std::int64_t begin, std::int64_t end, const std::int32_t* labels,
                            float scale) {
  return HWY_DYNAMIC_DISPATCH(Losses)(scores, begin, end, labels, scale);
}

}  // namespace espalier::bench
#endif  // HWY_ONCE
