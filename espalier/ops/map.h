/// Elementwise ops of one to three inputs: everything a map does not have to write itself.
///
/// A map's file has two parts. The first is its struct, with `value`: one element in plain C++, for float, double and
/// ad::Var. The second, seen only by maps_simd.cc and compiled once per SIMD target, is its vector function and slope:
///
///   #ifndef ESPALIER_MAPS_SIMD
///   ... struct Tanh : UnaryMap<Tanh> { ... }; and the user's function
///   #else
///   template <> struct VectorMap<Tanh> { value, slope };
///   #endif
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "espalier/ops/op.h"

namespace espalier::ops {

/// The compiled form of a map: serves whole steps and tiles of fused ones alike.
struct MapKernel {
  std::string_view name;
  /// y = value(x...) of every row.
  void (*forward)(const void* attrs, const StepIn& in, const Rows& y) = nullptr;
  /// Adds slope by x_k * dy to the gradient of every input k that is wanted.
  void (*backward)(const void* attrs, const Saved& saved, const Grads& grads) = nullptr;
};

/// The kernel of a map of the library's list, for this machine's processor.
const MapKernel& map_kernel(std::string_view name);

template <class Op, class A, class F>
struct MapBase {
  static constexpr Kind kKind = Kind::kMap;
  using Attrs = A;
  using Fields = F;

  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    static const MapKernel& kernel = map_kernel(Op::kName);
    kernel.forward(&attrs, in, out.y);
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    static const MapKernel& kernel = map_kernel(Op::kName);
    kernel.backward(&attrs, saved, grads);
  }
};

/// y = value(x), any shape. Op brings kName, kContract, kKeep, value, samples.
template <class Op, class A = None, class F = None>
struct UnaryMap : MapBase<Op, A, F> {
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr std::size_t kArity = 1;

  static Shape infer(const A&, const InputShapes& in) { return in["x"]; }
  template <class T>
  static void plain(const A& attrs, const F& fields, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = Op::template value<T>(attrs, fields, in[0][i]);
  }
  static Refusals refusals() { return {}; }
};

/// y = value(a, b), both of one shape; either may be shared.
template <class Op, class A = None, class F = None>
struct BinaryMap : MapBase<Op, A, F> {
  static constexpr std::array kInputs{Input{"a", Role::kEither}, Input{"b", Role::kEither}};
  static constexpr std::size_t kArity = 2;

  static Shape infer(const A&, const InputShapes& in) {
    in.require_same_shape("a", "b");
    return in["a"];
  }
  template <class T>
  static void plain(const A& attrs, const F& fields, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = Op::template value<T>(attrs, fields, in[0][i], in[1][i]);
  }
  static Refusals refusals() {
    return {
        refuses<Op>({{3}, {4}}, std::string(Op::kName) + ": shape of a ([3]) and shape of b ([4]) differ"),
        refuses<Op>({{2, 3}, {3, 2}}, std::string(Op::kName) + ": shape of a ([2, 3]) and shape of b ([3, 2]) differ")};
  }
};

/// y = value(a, b, c), all of one shape; each may be shared.
template <class Op, class A = None, class F = None>
struct TernaryMap : MapBase<Op, A, F> {
  static constexpr std::array kInputs{Input{"a", Role::kEither}, Input{"b", Role::kEither}, Input{"c", Role::kEither}};
  static constexpr std::size_t kArity = 3;

  static Shape infer(const A&, const InputShapes& in) {
    in.require_same_shape("a", "b");
    in.require_same_shape("a", "c");
    return in["a"];
  }
  template <class T>
  static void plain(const A& attrs, const F& fields, const PlainIn<T>& in, std::span<T> y) {
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = Op::template value<T>(attrs, fields, in[0][i], in[1][i], in[2][i]);
  }
  static Refusals refusals() {
    const std::string name(Op::kName);
    return {refuses<Op>({{3}, {4}, {3}}, name + ": shape of a ([3]) and shape of b ([4]) differ"),
            refuses<Op>({{2, 3}, {2, 3}, {3, 2}}, name + ": shape of a ([2, 3]) and shape of c ([3, 2]) differ")};
  }
};

}  // namespace espalier::ops
