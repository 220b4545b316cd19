/// Blocks for what models do with sequences: attention, both directions, convolution, one tensor of all, children.
#pragma once

#include <cstdint>
#include <utility>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"
#include "espalier/blocks/sequence.h"

namespace espalier {
enum class Padding : std::int32_t;
}

namespace espalier::blocks {

namespace detail {

/// A layer of attention as a function of sequences.
template <class Layer>
struct AttentionCall {
  Layer layer;
  Expr operator()(Operand query, const Operands& keys) const { return layer(query, keys, keys).value; }
  Expr operator()(Operand query, const Operands& keys, const Operands& values) const {
    return layer(query, keys, values).value;
  }
};

}  // namespace detail

template <class Layer>
struct Signatures<detail::AttentionCall<Layer>>
    : SignatureList<Expr(Operand, const Operands&), Expr(Operand, const Operands&, const Operands&)> {};

/// attention(layer) : a weighted sum of values; the weights depend on a query and on the keys.
/// Type: (float[q], seq<float[k]>) -> float[k];  (float[q], seq<float[k]>, seq<float[v]>) -> float[v]
/// Meaning: the layer is nn::DotAttention or nn::AdditiveAttention. In the first form the keys are also the values.
/// Example:
///   auto words = all_of({get("query") >> vector(4), get("words") >> map(vector(4))});
///   auto read = words >> attention(nn::DotAttention());
/// Errors: sizes that the layer refuses; no keys.
template <class Layer>
Block attention(Layer layer, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return function_block(make_function_spec(detail::AttentionCall<Layer>{std::move(layer)}, "attention()"),
                        {file, line});
}

/// bidirectional(forward, backward) : runs a recurrent cell from each end.
/// Type: seq<a> -> seq<float[f + b]>;  with cells that rnn() takes and outputs of float[f] and float[b]
/// Meaning: element i is a vector of both outputs there: of the forward cell, then of the backward cell.
/// Example: auto context = map(word) >> bidirectional(lstm, nn::LstmCell(model / "backward", 8, 16));
/// Errors: those of rnn() and concat().
ESPALIER_EXPORT Block bidirectional(const BlockArg& forward, const BlockArg& backward);

/// pad(before, after) : adds zeros at the ends.
/// Type: seq<a> -> seq<a>
/// Meaning: adds so many elements before and after the sequence.
/// Example: auto longer = map(word) >> pad(1, 1);
/// Errors: an infinite sequence; elements that have no zeros; negative numbers.
ESPALIER_EXPORT Block pad(std::int32_t before, std::int32_t after, const char* file = __builtin_FILE(),
                          std::int32_t line = __builtin_LINE());

/// conv(width, layer, padding) : applies a layer to every `width` neighbours.
/// Type: seq<float[n]> -> seq<b>;  with layer: float[width * n] -> b
/// Meaning: neighbours are concatenated. Without padding the result is width - 1 shorter than the sequence;
/// Padding::kSame adds zeros to make it as long. All windows of all instances run together.
/// Example: auto local = map(letter) >> conv(3, nn::Linear(model / "conv", 24, 16), Padding::kSame) >> max();
/// Errors: a width below 1; the errors of the layer.
ESPALIER_EXPORT Block conv(std::int32_t width, const BlockArg& layer, Padding padding);
ESPALIER_EXPORT Block conv(std::int32_t width, const BlockArg& layer);

/// stack(length) : turns a sequence into one tensor.
/// Type: seq<float[..]> -> float[length, ..]
/// Meaning: the elements lie along a new first axis, followed by zeros if there are fewer.
/// Example: auto matrix = map(vector(3)) >> slice({.stop = 10}) >> stack(10);
/// Errors: an infinite sequence; elements that are not tensors of at most three axes; more elements than `length`
/// (DataError).
ESPALIER_EXPORT Block stack(std::int32_t length, const char* file = __builtin_FILE(),
                            std::int32_t line = __builtin_LINE());

/// child_sum(layer) : combines any number of children.
/// Type: (float[x], seq<(float[h], float[h])>) -> (float[h], float[h]);  without x: seq<..> -> ..
/// Meaning: the Child-Sum Tree-LSTM of nn; without a layer, the sum of the children.
/// Example: tree.resolve_to(all_of({get("word") >> word, get("children") >> map(tree())}) >> child_sum(sum_cell));
/// Errors: sizes that the layer refuses.
ESPALIER_EXPORT Block child_sum(const nn::ChildSumTreeLstm& layer, const char* file = __builtin_FILE(),
                                std::int32_t line = __builtin_LINE());
inline Block child_sum(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return sum(file, line);
}

}  // namespace espalier::blocks
