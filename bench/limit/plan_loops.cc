#include "bench/limit/plan_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limit/plan_loops.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "bench/limit/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::bench::HWY_NAMESPACE {

/// The state of a row, to where it is needed, and the time predicted from it.
HWY_INLINE float StateAndTime(const PlanRows& rows, std::int64_t r) {
  float* s = rows.s + r * rows.hidden;
  float* copy = rows.place[r] < 0 ? nullptr : rows.x + rows.place[r];
  auto sum = hn::Zero(FloatTag());
  ForColumns(rows.hidden, [&](auto access, std::int64_t j) HWY_ATTR {
    const auto v = hn::Max(access.Load(s + j), hn::Zero(FloatTag()));
    access.Store(v, s + j);
    if (copy != nullptr) access.Store(v, copy + j);
    sum = hn::MulAdd(v, access.Load(rows.head + j), sum);
  });
  return hn::GetLane(hn::SumOfLanes(FloatTag(), sum)) + rows.head_bias;
}

double PlanForward(const PlanRows& rows, std::int64_t begin, std::int64_t end, float scale) {
  double loss = 0;
  for (std::int64_t r = begin; r < end; ++r) {
    const float error = StateAndTime(rows, r) - rows.target[r];
    loss += double{error} * double{error};
    rows.dtime[r] = 2 * scale * error;
  }
  return loss;
}

double PlanForwardRoots(const PlanRows& rows, std::int64_t begin, std::int64_t end) {
  double sum = 0;
  for (std::int64_t r = begin; r < end; ++r) {
    const float time = StateAndTime(rows, r);
    if (rows.place[r] < 0) sum += time;
  }
  return sum;
}

void PlanBackward(const PlanRows& rows, std::int64_t first, std::int64_t last, float* bias, float* head_gradient) {
  const std::int64_t size = rows.hidden;
  ForRowBlocks(last - first, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    ForColumns(size, [&](auto access, std::int64_t j) HWY_ATTR {
      const FloatTag d;
      const auto head = access.Load(rows.head + j);
      auto sum = access.Load(bias + j);
      auto head_sum = access.Load(head_gradient + j);
      for (std::int64_t r = first + begin; r < first + end; ++r) {
        const auto dtime = hn::Set(d, rows.dtime[r]);
        const auto s = access.Load(rows.s + r * size + j);
        auto ds = hn::Mul(dtime, head);
        if (rows.gradient_place[r] >= 0) ds = hn::Add(ds, access.Load(rows.dx + rows.gradient_place[r] + j));
        ds = hn::IfThenElseZero(hn::Gt(s, hn::Zero(d)), ds);
        access.Store(ds, rows.s + r * size + j);
        sum = hn::Add(sum, ds);
        head_sum = hn::MulAdd(dtime, s, head_sum);
      }
      access.Store(sum, bias + j);
      access.Store(head_sum, head_gradient + j);
    });
  });
}

}  // namespace espalier::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::bench {

HWY_EXPORT(PlanForward);
HWY_EXPORT(PlanForwardRoots);
HWY_EXPORT(PlanBackward);

double plan_forward(const PlanRows& rows, std::int64_t begin, std::int64_t end, float scale) {
  return HWY_DYNAMIC_DISPATCH(PlanForward)(rows, begin, end, scale);
}

double plan_forward_roots(const PlanRows& rows, std::int64_t begin, std::int64_t end) {
  return HWY_DYNAMIC_DISPATCH(PlanForwardRoots)(rows, begin, end);
}

void plan_backward(const PlanRows& rows, std::int64_t begin, std::int64_t end, float* bias, float* head_gradient) {
  HWY_DYNAMIC_DISPATCH(PlanBackward)(rows, begin, end, bias, head_gradient);
}

}  // namespace espalier::bench
#endif  // HWY_ONCE
