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
///   slopes(d, attrs, fields, a, b, y, &by_a, &by_b)  two inputs
template <class Op>
struct VectorMap;

#define ESPALIER_MAPS_SIMD
#include "espalier/ops/all_maps_simd.h"
#undef ESPALIER_MAPS_SIMD

template <class T>
HWY_INLINE const T& Typed(const void* p) {
  return detail::typed<T>(p);
}

template <class Op>
struct MapLoops {
  using Attrs = typename Op::Attrs;
  using Fields = typename Op::Fields;

  static void Forward(const void* attrs, const void* fields, std::int64_t n, const float* const* x, float* y) {
    const FloatTag d;
    const Attrs& a = Typed<Attrs>(attrs);
    const Fields& f = Typed<Fields>(fields);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(At(d, a, f, x, [&](const float* p) HWY_ATTR { return hn::LoadU(d, p + i); }), d, y + i);
    if (i == n) return;
    const auto rest = static_cast<std::size_t>(n - i);
    kn::StorePart(At(d, a, f, x, [&](const float* p) HWY_ATTR { return kn::LoadPart(d, p + i, rest); }), d, y + i,
                  rest);
  }

  static void Backward(const void* attrs, const void* fields, std::int64_t n, const float* const* x, const float* y,
                       const float* dy, float* const* dx, const bool* store) {
    const FloatTag d;
    const Attrs& a = Typed<Attrs>(attrs);
    const Fields& f = Typed<Fields>(fields);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      BackwardAt(
          d, a, f, x, y, dy, dx, store, i, [&](const float* p) HWY_ATTR { return hn::LoadU(d, p + i); },
          [&](FloatVector v, float* p) HWY_ATTR { hn::StoreU(v, d, p + i); });
    if (i == n) return;
    const auto rest = static_cast<std::size_t>(n - i);
    BackwardAt(
        d, a, f, x, y, dy, dx, store, i, [&](const float* p) HWY_ATTR { return kn::LoadPart(d, p + i, rest); },
        [&](FloatVector v, float* p) HWY_ATTR { kn::StorePart(v, d, p + i, rest); });
  }

 private:
  template <class Load>
  static HWY_INLINE FloatVector At(FloatTag d, const Attrs& a, const Fields& f, const float* const* x,
                                   const Load& load) {
    if constexpr (Op::kArity == 1)
      return VectorMap<Op>::value(d, a, f, load(x[0]));
    else
      return VectorMap<Op>::value(d, a, f, load(x[0]), load(x[1]));
  }

  template <class Load, class Store>
  static HWY_INLINE void BackwardAt(FloatTag d, const Attrs& a, const Fields& f, const float* const* x, const float* y,
                                    const float* dy, float* const* dx, const bool* store, std::int64_t,
                                    const Load& load, const Store& put) {
    const FloatVector g = load(dy);
    const auto add = [&](std::size_t k, FloatVector slope) HWY_ATTR {
      if (dx[k] == nullptr) return;
      put(store[k] ? hn::Mul(g, slope) : hn::MulAdd(g, slope, load(dx[k])), dx[k]);
    };
    if constexpr (Op::kArity == 1) {
      add(0, VectorMap<Op>::slope(d, a, f, load(x[0]), load(y)));
    } else {
      FloatVector by_a = hn::Zero(d);
      FloatVector by_b = hn::Zero(d);
      VectorMap<Op>::slopes(d, a, f, load(x[0]), load(x[1]), load(y), by_a, by_b);
      add(0, by_a);
      add(1, by_b);
    }
  }
};

template <class... Ops>
std::span<const MapKernel> TableOf(TypeList<Ops...>) {
  static const MapKernel table[] = {{Ops::kName, Ops::kArity, &MapLoops<Ops>::Forward, &MapLoops<Ops>::Backward}...};
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
