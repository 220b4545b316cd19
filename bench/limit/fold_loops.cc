#include "bench/limit/fold_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limit/fold_loops.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "bench/limit/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::bench::HWY_NAMESPACE {

void FoldForward(const FoldRows& rows, std::int64_t begin, std::int64_t end, bool keep) {
  const std::int64_t size = rows.size;
  for (std::int64_t r = begin; r < end; ++r) {
    float* gates = rows.gates + r * 4 * size;
    const float* left = rows.s + 2 * r * size;
    float* s = rows.s + rows.slot[r] * size;
    ForColumns(size, [=](auto access, std::int64_t j) HWY_ATTR {
      const FloatTag d;
      const auto f_left = Sigmoid(d, access.Load(gates + j));
      const auto f_right = Sigmoid(d, access.Load(gates + size + j));
      const auto i = Sigmoid(d, access.Load(gates + 2 * size + j));
      const auto u = Tanh(d, access.Load(gates + 3 * size + j));
      auto state = hn::Mul(i, u);
      state = hn::MulAdd(f_left, access.Load(left + j), state);
      state = hn::MulAdd(f_right, access.Load(left + size + j), state);
      access.Store(state, s + j);
      if (!keep) return;
      access.Store(f_left, gates + j);
      access.Store(f_right, gates + size + j);
      access.Store(i, gates + 2 * size + j);
      access.Store(u, gates + 3 * size + j);
    });
  }
}

void FoldBackward(const FoldRows& rows, std::int64_t first, std::int64_t last, float* bias) {
  const std::int64_t size = rows.size;
  ForRowBlocks(last - first, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    ForColumns(size, [&](auto access, std::int64_t j) HWY_ATTR {
      auto sum_left = access.Load(bias + j);
      auto sum_right = access.Load(bias + size + j);
      auto sum_i = access.Load(bias + 2 * size + j);
      auto sum_u = access.Load(bias + 3 * size + j);
      for (std::int64_t r = first + begin; r < first + end; ++r) {
        float* gates = rows.gates + r * 4 * size + j;
        const float* left = rows.s + 2 * r * size + j;
        float* ds_left = rows.ds + 2 * r * size + j;
        const auto ds = access.Load(rows.ds + rows.slot[r] * size + j);
        const auto f_left = access.Load(gates);
        const auto f_right = access.Load(gates + size);
        const auto i = access.Load(gates + 2 * size);
        const auto u = access.Load(gates + 3 * size);
        const auto d_left = ThroughSigmoid(f_left, hn::Mul(ds, access.Load(left)));
        const auto d_right = ThroughSigmoid(f_right, hn::Mul(ds, access.Load(left + size)));
        const auto di = ThroughSigmoid(i, hn::Mul(ds, u));
        const auto du = ThroughTanh(u, hn::Mul(ds, i));
        access.Store(hn::Mul(ds, f_left), ds_left);
        access.Store(hn::Mul(ds, f_right), ds_left + size);
        access.Store(d_left, gates);
        access.Store(d_right, gates + size);
        access.Store(di, gates + 2 * size);
        access.Store(du, gates + 3 * size);
        sum_left = hn::Add(sum_left, d_left);
        sum_right = hn::Add(sum_right, d_right);
        sum_i = hn::Add(sum_i, di);
        sum_u = hn::Add(sum_u, du);
      }
      access.Store(sum_left, bias + j);
      access.Store(sum_right, bias + size + j);
      access.Store(sum_i, bias + 2 * size + j);
      access.Store(sum_u, bias + 3 * size + j);
    });
  });
}

}  // namespace espalier::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::bench {

HWY_EXPORT(FoldForward);
HWY_EXPORT(FoldBackward);

void fold_forward(const FoldRows& rows, std::int64_t begin, std::int64_t end, bool keep) {
  HWY_DYNAMIC_DISPATCH(FoldForward)(rows, begin, end, keep);
}

void fold_backward(const FoldRows& rows, std::int64_t begin, std::int64_t end, float* bias) {
  HWY_DYNAMIC_DISPATCH(FoldBackward)(rows, begin, end, bias);
}

}  // namespace espalier::bench
#endif  // HWY_ONCE
