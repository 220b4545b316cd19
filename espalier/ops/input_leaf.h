#pragma once

#include "espalier/ops/op.h"

namespace espalier::ops {

/// Made by Graph::input and Graph::constant. Executors read its numbers where they are; it is never run.
struct InputLeaf {
  static constexpr std::string_view kName = "input";
  static constexpr std::string_view kContract = "numbers given by the user";
  static constexpr Kind kKind = Kind::kLeaf;
  static constexpr std::array<Input, 0> kInputs{};
  static constexpr Keep kKeep{};
  static constexpr bool kPerInstance = true;
  using Attrs = LeafAttrs;
  using Fields = InputFields;

  static DType leaf_dtype(const Attrs& attrs) { return attrs.dtype; }
  static Shape infer(const Attrs& attrs, const InputShapes&) { return attrs.shape; }
  template <class T>
  static void plain(const Attrs&, const Fields& fields, const PlainIn<T>&, std::span<T> y) {
    if constexpr (!std::is_same_v<T, ad::Var>) std::copy_n(static_cast<const T*>(fields.data), y.size(), y.begin());
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r)
      std::copy_n(static_cast<const float*>(in.fields<Fields>(r).data), out.y.width, out.y[r]);
  }
  static void backward(const Attrs&, const Saved&, Grads&) {}
  static Samples samples() { return {}; }
  static Refusals refusals() { return {}; }
};

}  // namespace espalier::ops
