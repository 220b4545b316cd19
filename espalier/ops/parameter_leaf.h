#pragma once

#include "espalier/ops/op.h"

namespace espalier::ops {

/// Made by Graph::parameter. Executors read the parameter where it is; it is never run.
struct ParameterLeaf {
  static constexpr std::string_view kName = "parameter";
  static constexpr std::string_view kContract = "the numbers of a parameter";
  static constexpr Kind kKind = Kind::kLeaf;
  static constexpr std::array<Input, 0> kInputs{};
  static constexpr Keep kKeep{};
  using Attrs = LeafAttrs;
  using Fields = ParameterFields;

  static DType leaf_dtype(const Attrs& attrs) { return attrs.dtype; }
  static Shape infer(const Attrs& attrs, const InputShapes&) { return attrs.shape; }
  template <class T>
  static void plain(const Attrs&, const Fields& fields, const PlainIn<T>&, std::span<T> y) {
    if constexpr (!std::is_same_v<T, ad::Var>) {
      const std::span<const T> values = fields.parameter->value().template as<T>();
      std::copy(values.begin(), values.end(), y.begin());
    }
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r)
      std::copy_n(in.fields<Fields>(r).parameter->value().as<float>().data(), out.y.width, out.y[r]);
  }
  static void backward(const Attrs&, const Saved&, Grads&) {}
  static Samples samples() { return {}; }
  static Refusals refusals() { return {}; }
};

}  // namespace espalier::ops
