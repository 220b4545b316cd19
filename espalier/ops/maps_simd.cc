/// The vector code of all maps, compiled once for every SIMD target and chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "espalier/ops/maps_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <bit>
#include <span>

#include "espalier/base/error.h"
#include "espalier/kernels/simd_loop-inl.h"
#include "espalier/kernels/simd_math-inl.h"
#include "espalier/ops/all.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace kn = espalier::kernels::HWY_NAMESPACE;
using kn::FloatTag;
using kn::FloatVector;

/// The vector form of a map, specialised by its file:
///   value(d, attrs, fields, x...)                  the function
///   slope(d, attrs, fields, x, y)                  one input: dy/dx
///   slopes(d, attrs, fields, a, b, y, &by_a, &by_b)  two inputs, or likewise three
template <class Op>
struct VectorMap;

#define ESPALIER_MAPS_SIMD
#include "espalier/ops/all_maps_simd.h"
#undef ESPALIER_MAPS_SIMD

template <class T>
HWY_INLINE const T& Typed(const void* p) {
  return detail::typed<T>(p);
}

/// The rows of a step, or all of them as one long row where they lie without gaps and have no fields of their own.
struct RowLoop {
  std::int64_t rows;
  std::int64_t width;

  RowLoop(bool at_once, std::int64_t count, std::int64_t elements)
      : rows(at_once ? 1 : count), width(at_once ? count * elements : elements) {}
};

inline bool AllDense(const StepIn& in) {
  for (const ConstRows& rows : in.inputs)
    if (!rows.dense()) return false;
  return true;
}

template <class Op>
struct MapLoops {
  using Attrs = typename Op::Attrs;
  using Fields = typename Op::Fields;

  static void Forward(const void* attrs, const StepIn& in, const Rows& y) {
    const FloatTag d;
    const Attrs& a = Typed<Attrs>(attrs);
    const RowLoop loop(in.fields_stride == 0 && y.dense() && AllDense(in), in.rows, y.width);
    for (std::int64_t r = 0; r < loop.rows; ++r) {
      const Fields& f = Typed<Fields>(in.fields_data + r * in.fields_stride);
      const float* const x0 = in[0][r];
      float* const to = y[r];
      if constexpr (Op::kArity == 1) {
        kn::ForEachVector(loop.width, [&](const auto& load, const auto& store)
                                          HWY_ATTR { store(VectorMap<Op>::value(d, a, f, load(x0)), to); });
      } else if constexpr (Op::kArity == 2) {
        const float* const x1 = in[1][r];
        kn::ForEachVector(loop.width, [&](const auto& load, const auto& store)
                                          HWY_ATTR { store(VectorMap<Op>::value(d, a, f, load(x0), load(x1)), to); });
      } else {
        const float* const x1 = in[1][r];
        const float* const x2 = in[2][r];
        kn::ForEachVector(loop.width, [&](const auto& load, const auto& store) HWY_ATTR {
          store(VectorMap<Op>::value(d, a, f, load(x0), load(x1), load(x2)), to);
        });
      }
    }
  }

  static void Backward(const void* attrs, const Saved& saved, const Grads& grads) {
    const StepIn& in = saved.in;
    const Attrs& a = Typed<Attrs>(attrs);
    bool at_once = in.fields_stride == 0 && saved.dy.dense() && saved.y.dense() && AllDense(in);
    for (std::size_t k = 0; k < Op::kArity; ++k)
      if (grads[k]) at_once = at_once && grads[k].rows().dense();
    const RowLoop loop(at_once, in.rows, saved.dy.width);
    for (std::int64_t r = 0; r < loop.rows; ++r)
      BackwardRow(a, Typed<Fields>(in.fields_data + r * in.fields_stride), saved, grads, r, loop.width);
  }

 private:
  static HWY_INLINE void BackwardRow(const Attrs& a, const Fields& f, const Saved& saved, const Grads& grads,
                                     std::int64_t r, std::int64_t width) {
    const FloatTag d;
    const float* const y = saved.y[r];
    const float* const dy = saved.dy[r];
    const float* const x0 = saved.in[0][r];
    float* const dx0 = grads[0] ? grads[0].rows()[r] : nullptr;
    const bool store0 = grads[0].stores();
    const auto add = [&](const auto& load, const auto& store, FloatVector g, FloatVector slope, float* dx, bool stores)
                         HWY_ATTR {
                           if (dx == nullptr) return;
                           store(stores ? hn::Mul(g, slope) : hn::MulAdd(g, slope, load(dx)), dx);
                         };
    if constexpr (Op::kArity == 1) {
      kn::ForEachVector(width, [&](const auto& load, const auto& store) HWY_ATTR {
        add(load, store, load(dy), VectorMap<Op>::slope(d, a, f, load(x0), load(y)), dx0, store0);
      });
    } else {
      const float* const x1 = saved.in[1][r];
      float* const dx1 = grads[1] ? grads[1].rows()[r] : nullptr;
      const bool store1 = grads[1].stores();
      if constexpr (Op::kArity == 2) {
        kn::ForEachVector(width, [&](const auto& load, const auto& store) HWY_ATTR {
          FloatVector by_a = hn::Zero(d);
          FloatVector by_b = hn::Zero(d);
          VectorMap<Op>::slopes(d, a, f, load(x0), load(x1), load(y), by_a, by_b);
          const FloatVector g = load(dy);
          add(load, store, g, by_a, dx0, store0);
          add(load, store, g, by_b, dx1, store1);
        });
      } else {
        const float* const x2 = saved.in[2][r];
        float* const dx2 = grads[2] ? grads[2].rows()[r] : nullptr;
        const bool store2 = grads[2].stores();
        kn::ForEachVector(width, [&](const auto& load, const auto& store) HWY_ATTR {
          FloatVector by_a = hn::Zero(d);
          FloatVector by_b = hn::Zero(d);
          FloatVector by_c = hn::Zero(d);
          VectorMap<Op>::slopes(d, a, f, load(x0), load(x1), load(x2), load(y), by_a, by_b, by_c);
          const FloatVector g = load(dy);
          add(load, store, g, by_a, dx0, store0);
          add(load, store, g, by_b, dx1, store1);
          add(load, store, g, by_c, dx2, store2);
        });
      }
    }
  }
};

template <class... Ops>
std::span<const MapKernel> TableOf(TypeList<Ops...>) {
  static const MapKernel table[] = {{Ops::kName, &MapLoops<Ops>::Forward, &MapLoops<Ops>::Backward}...};
  return table;
}

std::span<const MapKernel> Table() { return TableOf(TypeList<ESPALIER_MAP_OPS>{}); }

}  // namespace espalier::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::ops {

HWY_EXPORT(Table);

const MapKernel& map_kernel(std::string_view name) {
  static const std::span<const MapKernel> table = HWY_DYNAMIC_DISPATCH(Table)();
  for (const MapKernel& kernel : table)
    if (kernel.name == name) return kernel;
  throw InternalError(std::string(name) + ": no vector code was compiled for this map");
}

}  // namespace espalier::ops
#endif  // HWY_ONCE
