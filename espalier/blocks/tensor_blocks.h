/// Blocks over tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"

namespace espalier::blocks {

/// function(f) : calls any callable: a lambda of Exprs, a cell, a layer.
/// Type: the arguments of f -> its result; several arguments are a tuple
/// Meaning: calls f while the instance is recorded. Its result types are found by calling it once on a graph that
/// computes nothing. Blocks that use the same layer share its weights. You can pass f itself wherever a block is
/// expected.
/// Example: auto squash = function([](Expr x, Expr y) { return tanh(x + y); });
/// Errors: an input that f does not take; an error of f, reported at the line that wired it.
template <BlockFunction F>
Block function(F f, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return function_block(make_function_spec<F>(std::move(f), detail::kFunctionLabel), {file, line});
}

/// For the error message alone.
template <class F>
requires(!BlockFunction<F>) void function(F, const char* = nullptr, std::int32_t = 0) {
  static_assert(BlockFunction<F>,
                "function(f): the types of f's arguments must be written out; wrap a generic lambda or an overloaded "
                "function in a lambda such as [](Expr x) { return f(x); }");
}

/// from_tensor(t) : a constant, or a parameter.
/// Type: anything -> float[shape of t]
/// Meaning: ignores its input. A parameter gets gradients from all its uses, and must outlive the model.
/// Example: auto bias = from_tensor(Tensor({3}, {1, 2, 3}));
/// Errors: a tensor of int32.
inline Block from_tensor(const Tensor& tensor, const char* file = __builtin_FILE(),
                         std::int32_t line = __builtin_LINE()) {
  return tensor_block(tensor, {file, line});
}
inline Block from_tensor(const Parameter& parameter, const char* file = __builtin_FILE(),
                         std::int32_t line = __builtin_LINE()) {
  return parameter_block(parameter, {file, line});
}

struct ConcatOptions {
  /// A negative one counts from the last.
  std::int32_t axis = 0;
  /// Takes tuples in tuples, and concatenates all that is in them.
  bool flatten = false;
};

/// concat(options) : joins the tensors of a tuple along an axis.
/// Type: (float[..], float[..], ...) -> float[..]
/// Meaning: sizes along the other axes must be equal. Numbers of rank 0 count as vectors of size 1.
/// Example: auto joined = all_of({get("x") >> vector(2), get("y") >> scalar()}) >> concat();
/// Errors: shapes that differ along another axis; too few axes; nothing to join; nested tuples without `flatten`.
ESPALIER_EXPORT Block concat(const ConcatOptions& options = {}, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());

/// zeros(type) : zeros of a type; without one, of the type that is needed there.
/// Type: anything -> type
/// Meaning: tensors of zeros, also in tuples; a sequence is empty.
/// Example: auto start = zeros(Type::tuple({150, 150}));
/// Errors: a type that contains inputs or infinite sequences.
ESPALIER_EXPORT Block zeros(const std::optional<Type>& type = std::nullopt, const char* file = __builtin_FILE(),
                            std::int32_t line = __builtin_LINE());

}  // namespace espalier::blocks
