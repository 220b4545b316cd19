#include "bench/limit/tree_lstm_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limit/tree_lstm_loops.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "bench/limit/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::bench::HWY_NAMESPACE {

template <bool kLeaves>
HWY_INLINE void Forward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, bool keep) {
  constexpr std::int64_t kGates = kLeaves ? 3 : 5;
  const std::int64_t size = rows.hidden;
  for (std::int64_t r = begin; r < end; ++r) {
    float* HWY_RESTRICT gates = rows.gates + r * kGates * size;
    float* HWY_RESTRICT tanh_c = rows.tanh_c + r * size;
    float* h = rows.h + rows.slot[r] * size;
    float* c = rows.c + rows.slot[r] * size;
    const float* c_left = rows.c + 2 * r * size;
    const float* c_right = c_left + size;
    ForColumns(size, [=](auto access, std::int64_t j) HWY_ATTR {
      const FloatTag d;
      const auto i = Sigmoid(d, access.Load(gates + j));
      const auto o = Sigmoid(d, access.Load(gates + size + j));
      const auto u = Tanh(d, access.Load(gates + (kGates - 1) * size + j));
      auto cell = hn::Mul(i, u);
      if constexpr (!kLeaves) {
        const auto f_left = Sigmoid(d, access.Load(gates + 2 * size + j));
        const auto f_right = Sigmoid(d, access.Load(gates + 3 * size + j));
        cell = hn::MulAdd(f_left, access.Load(c_left + j), cell);
        cell = hn::MulAdd(f_right, access.Load(c_right + j), cell);
        if (keep) {
          access.Store(f_left, gates + 2 * size + j);
          access.Store(f_right, gates + 3 * size + j);
        }
      }
      const auto t = Tanh(d, cell);
      access.Store(hn::Mul(o, t), h + j);
      access.Store(cell, c + j);
      if (keep) {
        access.Store(i, gates + j);
        access.Store(o, gates + size + j);
        access.Store(u, gates + (kGates - 1) * size + j);
        access.Store(t, tanh_c + j);
      }
    });
  }
}

template <bool kLeaves>
HWY_INLINE void Backward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, float* bias) {
  constexpr std::int64_t kGates = kLeaves ? 3 : 5;
  const std::int64_t size = rows.hidden;
  ForRowBlocks(end - begin, [&](std::int64_t first, std::int64_t last) HWY_ATTR {
    ForColumns(size, [&](auto access, std::int64_t j) HWY_ATTR {
      const FloatTag d;
      auto sum_i = access.Load(bias + j);
      auto sum_o = access.Load(bias + size + j);
      auto sum_u = access.Load(bias + (kGates - 1) * size + j);
      auto sum_left = hn::Zero(d);
      auto sum_right = hn::Zero(d);
      if constexpr (!kLeaves) {
        sum_left = access.Load(bias + 2 * size + j);
        sum_right = access.Load(bias + 3 * size + j);
      }
      for (std::int64_t r = begin + first; r < begin + last; ++r) {
        const std::int64_t slot = rows.slot[r];
        float* gates = rows.gates + r * kGates * size + j;
        const auto i = access.Load(gates);
        const auto o = access.Load(gates + size);
        const auto u = access.Load(gates + (kGates - 1) * size);
        const auto t = access.Load(rows.tanh_c + r * size + j);
        auto dh = access.Load(rows.dh + slot * size + j);
        for (std::int64_t k = 0; k < rows.classes; ++k)
          dh = hn::MulAdd(hn::Set(d, rows.dscores[k * rows.slots + slot]), access.Load(rows.head + k * size + j), dh);
        const auto dc = hn::Add(access.Load(rows.dc + slot * size + j), ThroughTanh(t, hn::Mul(dh, o)));
        const auto di = ThroughSigmoid(i, hn::Mul(dc, u));
        const auto d_o = ThroughSigmoid(o, hn::Mul(dh, t));
        const auto du = ThroughTanh(u, hn::Mul(dc, i));
        access.Store(di, gates);
        access.Store(d_o, gates + size);
        access.Store(du, gates + (kGates - 1) * size);
        sum_i = hn::Add(sum_i, di);
        sum_o = hn::Add(sum_o, d_o);
        sum_u = hn::Add(sum_u, du);
        if constexpr (!kLeaves) {
          const float* c_left = rows.c + 2 * r * size + j;
          float* dc_left = rows.dc + 2 * r * size + j;
          const auto f_left = access.Load(gates + 2 * size);
          const auto f_right = access.Load(gates + 3 * size);
          const auto d_left = ThroughSigmoid(f_left, hn::Mul(dc, access.Load(c_left)));
          const auto d_right = ThroughSigmoid(f_right, hn::Mul(dc, access.Load(c_left + size)));
          access.Store(d_left, gates + 2 * size);
          access.Store(d_right, gates + 3 * size);
          access.Store(hn::Mul(dc, f_left), dc_left);
          access.Store(hn::Mul(dc, f_right), dc_left + size);
          sum_left = hn::Add(sum_left, d_left);
          sum_right = hn::Add(sum_right, d_right);
        }
      }
      access.Store(sum_i, bias + j);
      access.Store(sum_o, bias + size + j);
      access.Store(sum_u, bias + (kGates - 1) * size + j);
      if constexpr (!kLeaves) {
        access.Store(sum_left, bias + 2 * size + j);
        access.Store(sum_right, bias + 3 * size + j);
      }
    });
  });
}

void InnerForward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, bool keep) {
  Forward<false>(rows, begin, end, keep);
}
void LeavesForward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, bool keep) {
  Forward<true>(rows, begin, end, keep);
}
void InnerBackward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, float* bias) {
  Backward<false>(rows, begin, end, bias);
}
void LeavesBackward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, float* bias) {
  Backward<true>(rows, begin, end, bias);
}

}  // namespace espalier::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::bench {

HWY_EXPORT(InnerForward);
HWY_EXPORT(LeavesForward);
HWY_EXPORT(InnerBackward);
HWY_EXPORT(LeavesBackward);

void tree_lstm_forward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, bool keep) {
  HWY_DYNAMIC_DISPATCH(InnerForward)(rows, begin, end, keep);
}

void tree_lstm_leaves_forward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, bool keep) {
  HWY_DYNAMIC_DISPATCH(LeavesForward)(rows, begin, end, keep);
}

void tree_lstm_backward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, float* bias) {
  HWY_DYNAMIC_DISPATCH(InnerBackward)(rows, begin, end, bias);
}

void tree_lstm_leaves_backward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, float* bias) {
  HWY_DYNAMIC_DISPATCH(LeavesBackward)(rows, begin, end, bias);
}

}  // namespace espalier::bench
#endif  // HWY_ONCE
