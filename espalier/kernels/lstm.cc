#include "espalier/kernels/lstm.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/lstm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

template <class Load, class Store>
HWY_INLINE void Put(const Load& load, const Store& store, FloatVector v, const GradientTarget& to) {
  if (to.data == nullptr) return;
  store(to.store ? v : hn::Add(load(to.data), v), to.data);
}

/// kChildren is the number of children, or -1 where it is told at run time.
template <int kChildren, bool kLeaves>
HWY_INLINE void Memory(std::int64_t n, std::int64_t children, const float* const* x, float* c, float* const* opened) {
  const FloatTag d;
  ForEachVector(n, [&](const auto& load, const auto& store) HWY_ATTR {
    const FloatVector open = Sigmoid(d, load(x[0]));
    const FloatVector update = Tanh(d, load(x[1]));
    if (kLeaves) {
      store(open, opened[0]);
      store(update, opened[1]);
    }
    FloatVector sum = hn::Mul(open, update);
    const std::int64_t count = kChildren >= 0 ? kChildren : children;
    for (std::int64_t k = 0; k < count; ++k) {
      const FloatVector keep = Sigmoid(d, load(x[2 + 2 * k]));
      if (kLeaves) store(keep, opened[2 + k]);
      sum = hn::Add(sum, hn::Mul(keep, load(x[3 + 2 * k])));
    }
    store(sum, c);
  });
}

template <bool kLeaves>
HWY_INLINE void MemoryOf(std::int64_t n, std::int64_t children, const float* const* x, float* c, float* const* opened) {
  switch (children) {
    case 0: return Memory<0, kLeaves>(n, children, x, c, opened);
    case 1: return Memory<1, kLeaves>(n, children, x, c, opened);
    case 2: return Memory<2, kLeaves>(n, children, x, c, opened);
    default: return Memory<-1, kLeaves>(n, children, x, c, opened);
  }
}

void LstmMemory(std::int64_t n, std::int64_t children, const float* const* x, float* c, float* const* opened) {
  if (opened != nullptr)
    MemoryOf<true>(n, children, x, c, opened);
  else
    MemoryOf<false>(n, children, x, c, opened);
}

void LstmMemoryGradient(std::int64_t n, std::int64_t children, const float* const* x, const float* const* opened,
                        const float* dc, const GradientTarget* targets) {
  ForEachVector(n, [&](const auto& load, const auto& store) HWY_ATTR {
    const FloatVector g = load(dc);
    const FloatVector open = load(opened[0]);
    const FloatVector update = load(opened[1]);
    const FloatVector by_open = hn::Mul(g, update);
    const FloatVector by_update = hn::Mul(g, open);
    Put(load, store, hn::Mul(by_open, hn::NegMulAdd(open, open, open)), targets[0]);
    Put(load, store, hn::NegMulAdd(hn::Mul(by_update, update), update, by_update), targets[1]);
    for (std::int64_t k = 0; k < children; ++k) {
      const FloatVector keep = load(opened[2 + k]);
      const FloatVector by_keep = hn::Mul(g, load(x[3 + 2 * k]));
      Put(load, store, hn::Mul(by_keep, hn::NegMulAdd(keep, keep, keep)), targets[2 + 2 * k]);
      Put(load, store, hn::Mul(g, keep), targets[3 + 2 * k]);
    }
  });
}

void LstmOutput(std::int64_t n, const float* o, const float* c, float* h, float* opened, float* memory) {
  const FloatTag d;
  ForEachVector(n, [&](const auto& load, const auto& store) HWY_ATTR {
    const FloatVector open = Sigmoid(d, load(o));
    const FloatVector tanh_c = Tanh(d, load(c));
    if (opened != nullptr) {
      store(open, opened);
      store(tanh_c, memory);
    }
    store(hn::Mul(open, tanh_c), h);
  });
}

void LstmOutputGradient(std::int64_t n, const float* opened, const float* memory, const float* dh,
                        const GradientTarget& by_o, const GradientTarget& by_c) {
  ForEachVector(n, [&](const auto& load, const auto& store) HWY_ATTR {
    const FloatVector g = load(dh);
    const FloatVector open = load(opened);
    const FloatVector tanh_c = load(memory);
    const FloatVector by_memory = hn::Mul(g, open);
    Put(load, store, hn::Mul(hn::Mul(g, tanh_c), hn::NegMulAdd(open, open, open)), by_o);
    Put(load, store, hn::NegMulAdd(hn::Mul(by_memory, tanh_c), tanh_c, by_memory), by_c);
  });
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(LstmMemory);
HWY_EXPORT(LstmMemoryGradient);
HWY_EXPORT(LstmOutput);
HWY_EXPORT(LstmOutputGradient);

void lstm_memory(std::int64_t n, std::int64_t children, const float* const* x, float* c, float* const* opened) {
  HWY_DYNAMIC_DISPATCH(LstmMemory)(n, children, x, c, opened);
}
void lstm_memory_gradient(std::int64_t n, std::int64_t children, const float* const* x, const float* const* opened,
                          const float* dc, const GradientTarget* targets) {
  HWY_DYNAMIC_DISPATCH(LstmMemoryGradient)(n, children, x, opened, dc, targets);
}
void lstm_output(std::int64_t n, const float* o, const float* c, float* h, float* opened, float* memory) {
  HWY_DYNAMIC_DISPATCH(LstmOutput)(n, o, c, h, opened, memory);
}
void lstm_output_gradient(std::int64_t n, const float* opened, const float* memory, const float* dh,
                          const GradientTarget& by_o, const GradientTarget& by_c) {
  HWY_DYNAMIC_DISPATCH(LstmOutputGradient)(n, opened, memory, dh, by_o, by_c);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
