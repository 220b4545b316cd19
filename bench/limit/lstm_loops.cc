#include "bench/limit/lstm_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limit/lstm_loops.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "bench/limit/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::bench::HWY_NAMESPACE {

void LstmForward(const LstmStep& s, bool keep) {
  const std::int64_t size = s.hidden;
  for (std::int64_t r = 0; r < s.count; ++r) {
    float* gates = s.gates + r * 4 * size;
    const float* projected = s.projected == nullptr ? nullptr : s.projected + s.projected_row[r] * 4 * size;
    float* c = s.c + r * size;
    const float* c_before = s.c_before == nullptr ? nullptr : s.c_before + r * size;
    float* tanh_c = s.tanh_c + r * size;
    float* h_next = r < s.next_count ? s.h_next + r * size : nullptr;
    float* y = s.y + s.token_row[r] * s.y_stride;
    ForColumns(size, [=](auto access, std::int64_t j) HWY_ATTR {
      const FloatTag d;
      const auto gate = [=](std::int64_t k) HWY_ATTR {
        const auto sum = access.Load(gates + k * size + j);
        return projected == nullptr ? sum : hn::Add(sum, access.Load(projected + k * size + j));
      };
      const auto i = Sigmoid(d, gate(0));
      const auto f = Sigmoid(d, gate(1));
      const auto o = Sigmoid(d, gate(2));
      const auto u = Tanh(d, gate(3));
      auto cell = hn::Mul(i, u);
      if (c_before != nullptr) cell = hn::MulAdd(f, access.Load(c_before + j), cell);
      const auto t = Tanh(d, cell);
      const auto h = hn::Mul(o, t);
      access.Store(cell, c + j);
      access.Store(h, y + j);
      if (h_next != nullptr) access.Store(h, h_next + j);
      if (!keep) return;
      access.Store(i, gates + j);
      access.Store(f, gates + size + j);
      access.Store(o, gates + 2 * size + j);
      access.Store(u, gates + 3 * size + j);
      access.Store(t, tanh_c + j);
    });
  }
}

void LstmBackward(const LstmStep& s) {
  const std::int64_t size = s.hidden;
  ForRowBlocks(s.count, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    ForColumns(size, [&](auto access, std::int64_t j) HWY_ATTR {
      auto sum_i = access.Load(s.bias + j);
      auto sum_f = access.Load(s.bias + size + j);
      auto sum_o = access.Load(s.bias + 2 * size + j);
      auto sum_u = access.Load(s.bias + 3 * size + j);
      for (std::int64_t r = begin; r < end; ++r) {
        float* gates = s.gates + r * 4 * size + j;
        float* dc_row = s.dc + r * size + j;
        const auto i = access.Load(gates);
        const auto f = access.Load(gates + size);
        const auto o = access.Load(gates + 2 * size);
        const auto u = access.Load(gates + 3 * size);
        const auto t = access.Load(s.tanh_c + r * size + j);
        auto dh = access.Load(s.dy + s.token_row[r] * s.y_stride + j);
        auto dc = ThroughTanh(t, hn::Mul(dh, o));
        if (r < s.next_count) {
          dh = hn::Add(dh, access.Load(s.dh_next + r * size + j));
          dc = hn::Add(access.Load(dc_row), ThroughTanh(t, hn::Mul(dh, o)));
        }
        const auto di = ThroughSigmoid(i, hn::Mul(dc, u));
        const auto d_o = ThroughSigmoid(o, hn::Mul(dh, t));
        const auto du = ThroughTanh(u, hn::Mul(dc, i));
        auto df = hn::Zero(FloatTag());
        if (s.c_before != nullptr) {
          df = ThroughSigmoid(f, hn::Mul(dc, access.Load(s.c_before + r * size + j)));
          access.Store(hn::Mul(dc, f), dc_row);
        }
        access.Store(di, gates);
        access.Store(df, gates + size);
        access.Store(d_o, gates + 2 * size);
        access.Store(du, gates + 3 * size);
        sum_i = hn::Add(sum_i, di);
        sum_f = hn::Add(sum_f, df);
        sum_o = hn::Add(sum_o, d_o);
        sum_u = hn::Add(sum_u, du);
      }
      access.Store(sum_i, s.bias + j);
      access.Store(sum_f, s.bias + size + j);
      access.Store(sum_o, s.bias + 2 * size + j);
      access.Store(sum_u, s.bias + 3 * size + j);
    });
  });
}

}  // namespace espalier::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::bench {

HWY_EXPORT(LstmForward);
HWY_EXPORT(LstmBackward);

void lstm_forward(const LstmStep& step, bool keep) { HWY_DYNAMIC_DISPATCH(LstmForward)(step, keep); }

void lstm_backward(const LstmStep& step) { HWY_DYNAMIC_DISPATCH(LstmBackward)(step); }

}  // namespace espalier::bench
#endif  // HWY_ONCE
