#include "espalier/kernels/lstm.h"

#include <cstddef>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/kernels/lstm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels::HWY_NAMESPACE {

/// A number of children that is told at run time.
constexpr int kAnyNumber = -1;

// Lambdas are not always inlined, and then pointers are read from memory with every vector: rows are structs here.

/// A vector of columns,
struct WholeVector {
  HWY_INLINE FloatVector Load(const float* p) const { return hn::LoadU(FloatTag(), p); }
  HWY_INLINE void Store(FloatVector v, float* p) const { hn::StoreU(v, FloatTag(), p); }
};
/// and the first few of one.
struct PartOfVector {
  std::size_t count;
  HWY_INLINE FloatVector Load(const float* p) const { return LoadPart(FloatTag(), p, count); }
  HWY_INLINE void Store(FloatVector v, float* p) const { StorePart(v, FloatTag(), p, count); }
};

/// Calls row.Do(access, column) for every vector of `width` columns.
template <class Row>
HWY_INLINE void ForColumns(std::int64_t width, const Row& row) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(FloatTag()));
  std::int64_t j = 0;
  for (; j + lanes <= width; j += lanes) row.Do(WholeVector(), j);
  if (j < width) row.Do(PartOfVector{static_cast<std::size_t>(width - j)}, j);
}

template <class T>
HWY_INLINE T* FindRow(const BasicRows<T>& view, std::int64_t r) {
  return view[r];
}
HWY_INLINE float* FindRow(const GradientRows& view, std::int64_t r) {
  return view.rows.data == nullptr ? nullptr : view.rows[r];
}

/// Row r of so many views, found once: they stay in registers.
template <class T, class Numbers>
struct FewRows;
template <class T, std::size_t... kNumbers>
struct FewRows<T, std::index_sequence<kNumbers...>> {
  template <class View>
  HWY_INLINE FewRows(const View* views, std::int64_t r) : rows{FindRow(views[kNumbers], r)...} {}
  HWY_INLINE T* operator[](std::size_t k) const { return rows[k]; }

  T* rows[sizeof...(kNumbers)];
};
/// Row r of any number of views, found with every vector.
template <class View>
struct ManyRows {
  HWY_INLINE ManyRows(const View* of_views, std::int64_t row) : views(of_views), r(row) {}
  HWY_INLINE auto operator[](std::size_t k) const { return FindRow(views[k], r); }

  const View* views;
  std::int64_t r;
};
/// Of two views, and of kEach for every child.
template <int kChildren, int kEach, class View, class T>
using RowsOf = std::conditional_t<kChildren == kAnyNumber, ManyRows<View>,
                                  FewRows<T, std::make_index_sequence<2 + kEach*(kChildren < 0 ? 0 : kChildren)>>>;

// --- forward ---------------------------------------------------------------------------------------------------------

template <int kChildren, bool kLeaves>
struct MemoryRow {
  HWY_INLINE MemoryRow(const LstmMemoryRows& memory, std::int64_t r)
      : children(static_cast<std::size_t>(memory.children)), x(memory.x, r), opened(memory.opened, r), c(memory.c[r]) {}
  template <class Access>
  HWY_INLINE void Do(Access access, std::int64_t j) const {
    const FloatTag d;
    const FloatVector open = Sigmoid(d, access.Load(x[0] + j));
    const FloatVector update = Tanh(d, access.Load(x[1] + j));
    FloatVector sum = hn::Mul(open, update);
    if constexpr (kLeaves) {
      access.Store(open, opened[0] + j);
      access.Store(update, opened[1] + j);
    }
    if constexpr (kChildren == kAnyNumber)
      for (std::size_t k = 0; k < children; ++k) sum = AddChild(access, j, k, sum);
    if constexpr (kChildren > 0) sum = AddChild(access, j, 0, sum);
    if constexpr (kChildren > 1) sum = AddChild(access, j, 1, sum);
    access.Store(sum, c + j);
  }
  template <class Access>
  HWY_INLINE FloatVector AddChild(Access access, std::int64_t j, std::size_t k, FloatVector sum) const {
    const FloatVector keep = Sigmoid(FloatTag(), access.Load(x[2 + 2 * k] + j));
    if constexpr (kLeaves) access.Store(keep, opened[2 + k] + j);
    return hn::Add(sum, hn::Mul(keep, access.Load(x[3 + 2 * k] + j)));
  }

  std::size_t children;
  RowsOf<kChildren, 2, ConstRows, const float> x;
  RowsOf<kLeaves ? kChildren : kAnyNumber, 1, Rows, float> opened;
  float* c;
};

template <int kChildren, bool kLeaves>
void Memory(const LstmMemoryRows& memory) {
  for (std::int64_t r = 0; r < memory.c.count; ++r)
    ForColumns(memory.c.width, MemoryRow<kChildren, kLeaves>(memory, r));
}

template <bool kLeaves>
HWY_INLINE void MemoryOf(const LstmMemoryRows& memory) {
  switch (memory.children) {
    case 0: return Memory<0, kLeaves>(memory);
    case 1: return Memory<1, kLeaves>(memory);
    case 2: return Memory<2, kLeaves>(memory);
    default: return Memory<kAnyNumber, kLeaves>(memory);
  }
}

void LstmMemory(const LstmMemoryRows& memory) {
  if (memory.opened != nullptr)
    MemoryOf<true>(memory);
  else
    MemoryOf<false>(memory);
}

template <bool kLeaves>
struct OutputRow {
  HWY_INLINE OutputRow(const LstmOutputRows& output, std::int64_t r)
      : o(output.o[r]), c(output.c[r]), h(output.h[r]), opened(output.opened[r]), tanh_c(output.tanh_c[r]) {}
  template <class Access>
  HWY_INLINE void Do(Access access, std::int64_t j) const {
    const FloatTag d;
    const FloatVector out = Sigmoid(d, access.Load(o + j));
    const FloatVector tanh_of_c = Tanh(d, access.Load(c + j));
    if constexpr (kLeaves) {
      access.Store(out, opened + j);
      access.Store(tanh_of_c, tanh_c + j);
    }
    access.Store(hn::Mul(out, tanh_of_c), h + j);
  }

  const float* o;
  const float* c;
  float* h;
  float* opened;
  float* tanh_c;
};

template <bool kLeaves>
void Output(const LstmOutputRows& output) {
  for (std::int64_t r = 0; r < output.h.count; ++r) ForColumns(output.h.width, OutputRow<kLeaves>(output, r));
}

void LstmOutput(const LstmOutputRows& output) {
  if (output.opened.data != nullptr)
    Output<true>(output);
  else
    Output<false>(output);
}

// --- backward --------------------------------------------------------------------------------------------------------

/// y (1 - y), times d: the gradient through a sigmoid of value y.
HWY_INLINE FloatVector BackThroughSigmoid(FloatVector y, FloatVector d) { return hn::Mul(d, hn::NegMulAdd(y, y, y)); }
/// (1 - y^2) d: the gradient through a tanh of value y.
HWY_INLINE FloatVector BackThroughTanh(FloatVector y, FloatVector d) { return hn::NegMulAdd(hn::Mul(d, y), y, d); }

/// kStore: it is wanted and stored; else as is told.
template <bool kStore, class Access>
HWY_INLINE void Put(Access access, FloatVector v, float* to, std::int64_t j, bool stores) {
  if constexpr (!kStore) {
    if (to == nullptr) return;
    if (!stores) v = hn::Add(access.Load(to + j), v);
  }
  access.Store(v, to + j);
}

/// kStores: all gradients are wanted and stored.
template <int kChildren, bool kStores>
struct MemoryGradientRow {
  HWY_INLINE MemoryGradientRow(const LstmMemoryGradients& memory, std::int64_t r)
      : children(static_cast<std::size_t>(memory.children)),
        targets(memory.targets),
        x(memory.x, r),
        opened(memory.opened, r),
        to(memory.targets, r),
        dc(memory.dc[r]) {}
  template <class Access>
  HWY_INLINE void Do(Access access, std::int64_t j) const {
    const FloatVector g = access.Load(dc + j);
    const FloatVector open = access.Load(opened[0] + j);
    const FloatVector update = access.Load(opened[1] + j);
    Put<kStores>(access, BackThroughSigmoid(open, hn::Mul(g, update)), to[0], j, targets[0].store);
    Put<kStores>(access, BackThroughTanh(update, hn::Mul(g, open)), to[1], j, targets[1].store);
    if constexpr (kChildren == kAnyNumber)
      for (std::size_t k = 0; k < children; ++k) DoChild(access, j, k, g);
    if constexpr (kChildren > 0) DoChild(access, j, 0, g);
    if constexpr (kChildren > 1) DoChild(access, j, 1, g);
  }
  template <class Access>
  HWY_INLINE void DoChild(Access access, std::int64_t j, std::size_t k, FloatVector g) const {
    const FloatVector keep = access.Load(opened[2 + k] + j);
    const FloatVector by_keep = hn::Mul(g, access.Load(x[3 + 2 * k] + j));
    Put<kStores>(access, BackThroughSigmoid(keep, by_keep), to[2 + 2 * k], j, targets[2 + 2 * k].store);
    Put<kStores>(access, hn::Mul(g, keep), to[3 + 2 * k], j, targets[3 + 2 * k].store);
  }

  std::size_t children;
  const GradientRows* targets;
  RowsOf<kChildren, 2, ConstRows, const float> x;
  RowsOf<kChildren, 1, ConstRows, const float> opened;
  RowsOf<kChildren, 2, GradientRows, float> to;
  const float* dc;
};

template <int kChildren, bool kStores>
void MemoryGradient(const LstmMemoryGradients& memory) {
  for (std::int64_t r = 0; r < memory.dc.count; ++r)
    ForColumns(memory.dc.width, MemoryGradientRow<kChildren, kStores>(memory, r));
}

template <bool kStores>
HWY_INLINE void MemoryGradientOf(const LstmMemoryGradients& memory) {
  switch (memory.children) {
    case 0: return MemoryGradient<0, kStores>(memory);
    case 1: return MemoryGradient<1, kStores>(memory);
    case 2: return MemoryGradient<2, kStores>(memory);
    default: return MemoryGradient<kAnyNumber, kStores>(memory);
  }
}

bool AllStored(const LstmMemoryGradients& memory) {
  bool all = true;
  for (std::int64_t k = 0; k < 2 + 2 * memory.children; ++k)
    all = all && memory.targets[k].store && memory.targets[k].rows.data != nullptr;
  return all;
}

void LstmMemoryGradient(const LstmMemoryGradients& memory) {
  if (AllStored(memory))
    MemoryGradientOf<true>(memory);
  else
    MemoryGradientOf<false>(memory);
}

struct OutputGradientRow {
  HWY_INLINE OutputGradientRow(const LstmOutputGradients& output, std::int64_t r)
      : dh(output.dh[r]),
        opened(output.opened[r]),
        tanh_c(output.tanh_c[r]),
        to_o(FindRow(output.by_o, r)),
        to_c(FindRow(output.by_c, r)),
        stores_o(output.by_o.store),
        stores_c(output.by_c.store) {}
  template <class Access>
  HWY_INLINE void Do(Access access, std::int64_t j) const {
    const FloatVector g = access.Load(dh + j);
    const FloatVector out = access.Load(opened + j);
    const FloatVector tanh_of_c = access.Load(tanh_c + j);
    Put<false>(access, BackThroughSigmoid(out, hn::Mul(g, tanh_of_c)), to_o, j, stores_o);
    Put<false>(access, BackThroughTanh(tanh_of_c, hn::Mul(g, out)), to_c, j, stores_c);
  }

  const float* dh;
  const float* opened;
  const float* tanh_c;
  float* to_o;
  float* to_c;
  bool stores_o;
  bool stores_c;
};

void LstmOutputGradient(const LstmOutputGradients& output) {
  for (std::int64_t r = 0; r < output.dh.count; ++r) ForColumns(output.dh.width, OutputGradientRow(output, r));
}

}  // namespace espalier::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(LstmMemory);
HWY_EXPORT(LstmOutput);
HWY_EXPORT(LstmMemoryGradient);
HWY_EXPORT(LstmOutputGradient);

void lstm_memory(const LstmMemoryRows& memory) { HWY_DYNAMIC_DISPATCH(LstmMemory)(memory); }
void lstm_output(const LstmOutputRows& output) { HWY_DYNAMIC_DISPATCH(LstmOutput)(output); }
void lstm_memory_gradient(const LstmMemoryGradients& memory) { HWY_DYNAMIC_DISPATCH(LstmMemoryGradient)(memory); }
void lstm_output_gradient(const LstmOutputGradients& output) { HWY_DYNAMIC_DISPATCH(LstmOutputGradient)(output); }

}  // namespace espalier::kernels
#endif  // HWY_ONCE
