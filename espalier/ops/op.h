/// How an op is made: the one header to read before adding one (docs/adding_an_op.md walks through an example).
///
/// An op is a struct with
///   kName, kContract, kKind, kInputs      what it is called, what it computes, what it takes (graph/op_info.h)
///   kKeep                                 what backward reads
///   Attrs, Fields                         per use, in the signature; per node, not in it. Attrs has no padding.
///   infer(attrs, in)                      the shape of the result; refuses what does not fit
///   plain<T>(attrs, fields, in, y)        one row, scalar: the reference, for float, double and ad::Var
///   forward(attrs, in, out)               the step kernel: n rows of float32
///   backward(attrs, saved, grads)         its gradient
///   samples(), refusals()                 examples: what it gives, where it works, what it refuses
/// and optionally
///   check(attrs, fields, in)              refuses fields, node by node
///   choices(attrs, in)                    its first field, an int32, is from 0 to below so many: only others are
///                                         checked
///   saved(attrs, in)                      how many floats a row forward leaves for backward
///   kPerInstance, kRandom, kTakesWhole, kRowAnOperand, kGathers, kStoresShared, kAddsOnly, table_row, view,
///     side_by_side, weight, keeps_operand, place_random      see OpInfo
/// Without forward and backward, both are derived from plain: right, and slow.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "espalier/graph/graph.h"
#include "espalier/graph/op_info.h"
#include "espalier/graph/op_sample.h"
#include "espalier/ops/ad.h"
#include "espalier/ops/plain_step.h"
#include "espalier/ops/step.h"

namespace espalier::ops {

/// Attrs or Fields of an op that has none.
struct None {
  bool operator==(const None&) const = default;
};

namespace detail {

template <class T>
constexpr std::int32_t size_in_words() {
  if constexpr (std::is_empty_v<T>) {
    return 0;
  } else {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0 && alignof(T) <= 8);
    // Fails to compile where T has padding, whose bits could make equal attributes differ.
    static_assert((static_cast<void>(std::bit_cast<std::array<std::uint32_t, sizeof(T) / 4>>(T{})), true));
    return sizeof(T) / 4;
  }
}

template <class T>
const T& typed(const void* p) {
  if constexpr (std::is_empty_v<T>) {
    static const T none{};
    return none;
  } else {
    return *static_cast<const T*>(p);
  }
}

template <class Op, class T>
void plain(const void* attrs, const void* fields, const PlainIn<T>& in, std::span<T> y) {
  Op::template plain<T>(typed<typename Op::Attrs>(attrs), typed<typename Op::Fields>(fields), in, y);
}

}  // namespace detail

/// The table of an op's facts and functions. Instantiates all of its code, so it belongs into one source file.
template <class Op>
OpInfo make_op_info() {
  using Attrs = typename Op::Attrs;
  using Fields = typename Op::Fields;
  static_assert(std::is_trivially_copyable_v<Fields> && alignof(Fields) <= 8);

  OpInfo info;
  info.name = Op::kName;
  info.contract = Op::kContract;
  info.kind = Op::kKind;
  info.inputs = Op::kInputs;
  info.keep = Op::kKeep;
  info.attr_words = detail::size_in_words<Attrs>();
  info.field_bytes = std::is_empty_v<Fields> ? 0 : static_cast<std::int32_t>(sizeof(Fields));
  if constexpr (requires { Op::kPerInstance; }) info.per_instance = Op::kPerInstance;
  if constexpr (requires { Op::kRandom; }) info.random = Op::kRandom;
  if constexpr (requires { Op::kTakesWhole; }) info.takes_whole = Op::kTakesWhole;
  if constexpr (requires { Op::kRowAnOperand; }) info.row_an_operand = Op::kRowAnOperand;
  if constexpr (requires { Op::kGathers; }) info.gathers = Op::kGathers;
  if constexpr (requires { Op::kStoresShared; }) info.stores_shared = Op::kStoresShared;
  if constexpr (requires { Op::kAddsOnly; }) info.adds_only = Op::kAddsOnly;
  if constexpr (requires { &Op::place_random; })
    info.place_random = [](void* fields, std::uint64_t seed, std::uint64_t step, std::uint64_t instance_key,
                           std::uint32_t number) {
      Op::place_random(*static_cast<Fields*>(fields), seed, step, {instance_key, number});
    };
  if constexpr (requires(Attrs a) { Op::leaf_dtype(a); })
    info.leaf_dtype = [](const void* attrs) { return Op::leaf_dtype(detail::typed<Attrs>(attrs)); };
  info.infer = [](const void* attrs, const InputShapes& in) { return Op::infer(detail::typed<Attrs>(attrs), in); };
  if constexpr (requires { &Op::reads_row; })
    info.reads_row = [](const void* fields) { return Op::reads_row(detail::typed<Fields>(fields)); };
  if constexpr (requires { &Op::check; })
    info.check = [](const void* attrs, const void* fields, const InputShapes& in) {
      Op::check(detail::typed<Attrs>(attrs), detail::typed<Fields>(fields), in);
    };
  if constexpr (requires { &Op::choices; }) {
    static_assert(sizeof(Fields) >= sizeof(std::int32_t));
    info.choices = [](const void* attrs, const InputShapes& in) {
      return Op::choices(detail::typed<Attrs>(attrs), in);
    };
  }
  if constexpr (requires { &Op::saved; })
    info.saved = [](const void* attrs, const InputShapes& in) { return Op::saved(detail::typed<Attrs>(attrs), in); };
  if constexpr (requires { &Op::view; })
    info.view = [](const void* attrs, const InputShapes& in) { return Op::view(detail::typed<Attrs>(attrs), in); };
  if constexpr (requires { &Op::side_by_side; })
    info.side_by_side = [](const void* attrs, const InputShapes& in) {
      return Op::side_by_side(detail::typed<Attrs>(attrs), in);
    };
  if constexpr (requires { &Op::weight; }) info.weight = &Op::weight;
  if constexpr (requires { &Op::keeps_operand; }) info.keeps_operand = &Op::keeps_operand;
  if constexpr (requires { &Op::overwrites; }) {
    info.overwrites = &Op::overwrites;
    info.saved_in_place = [](const void* attrs, const InputShapes& in) {
      return Op::saved_in_place(detail::typed<Attrs>(attrs), in);
    };
  }
  if constexpr (requires { &Op::table_row; })
    info.table_row = [](const void* fields) { return Op::table_row(detail::typed<Fields>(fields)); };
  info.plain_float = &detail::plain<Op, float>;
  info.plain_double = &detail::plain<Op, double>;
  info.plain_var = &detail::plain<Op, ad::Var>;
  if constexpr (requires { &Op::forward; }) {
    info.forward = [](const void* attrs, const StepIn& in, const StepOut& out) {
      Op::forward(detail::typed<Attrs>(attrs), in, out);
    };
    info.backward = [](const void* attrs, const Saved& saved, Grads& grads) {
      Op::backward(detail::typed<Attrs>(attrs), saved, grads);
    };
  } else {
    static_assert(Op::kKeep.inputs, "an op without forward and backward of its own keeps its inputs");
    info.forward = [](const void* attrs, const StepIn& in, const StepOut& out) {
      plain_forward(&detail::plain<Op, float>, attrs, in, out);
    };
    info.backward = [](const void* attrs, const Saved& saved, Grads& grads) {
      plain_backward(&detail::plain<Op, ad::Var>, attrs, saved, grads);
    };
  }
  info.samples = &Op::samples;
  info.refusals = &Op::refusals;
  return info;
}

template <class Op>
[[gnu::always_inline]] inline const OpInfo& info_of() {
  static const OpInfo& info = op_info(find_op(Op::kName));
  return info;
}

/// Appends a node of this op to the graph of its operands.
template <class Op>
[[gnu::always_inline]] inline Expr record(const Operand& operand, const typename Op::Attrs& attrs = {},
                                          const typename Op::Fields& fields = {}) {
  const OpInfo& info = info_of<Op>();
  const std::span<const Operand> list(&operand, 1);
  return graph_of(info, list).record(info, &attrs, &fields, list);
}
/// The same where the graph is known: the operand may be a parameter.
template <class Op>
Expr record_on(Graph& graph, const Operand& operand, const typename Op::Attrs& attrs,
               const typename Op::Fields& fields) {
  return graph.record(info_of<Op>(), &attrs, &fields, {&operand, 1});
}
template <class Op>
Expr record(std::initializer_list<Operand> operands, const typename Op::Attrs& attrs = {},
            const typename Op::Fields& fields = {}) {
  const OpInfo& info = info_of<Op>();
  const std::span<const Operand> list(operands.begin(), operands.size());
  return graph_of(info, list).record(info, &attrs, &fields, list);
}
template <class Op>
Expr record(const Operands& operands, const typename Op::Attrs& attrs = {}, const typename Op::Fields& fields = {}) {
  const OpInfo& info = info_of<Op>();
  return graph_of(info, operands).record(info, &attrs, &fields, operands);
}

}  // namespace espalier::ops

namespace espalier {

/// Makes an op of your own known to the library. Once, before its first use; again does nothing.
template <class Op>
OpId register_op() {
  return add_op(ops::make_op_info<Op>());
}

}  // namespace espalier
