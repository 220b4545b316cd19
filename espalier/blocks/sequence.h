/// Blocks over sequences. Where one takes seq<a>, it also takes a tuple of equal types and an input that is a list.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"

namespace espalier::blocks {

/// map(block) : runs a block on each element.
/// Type: seq<a> -> seq<b>;  inf<a> -> inf<b>;  with a block a -> b
/// Meaning: the outputs are in the order of the elements. On an infinite sequence the block runs once.
/// Example: auto words = map(lookup(vocabulary) >> embedding(table));
/// Errors: the input has no elements.
ESPALIER_EXPORT Block map(const BlockArg& block);

/// fold(combine, start) : carries a state through all elements, first to last.
/// Type: seq<a> -> s;  with combine: (s, a) -> s and start: nothing -> s
/// Meaning: combine(... combine(combine(start, x0), x1) ..., xn). For an empty sequence, start.
/// Example: auto last = fold(combine, zeros(150));
/// Errors: an infinite sequence; the state and the output of combine differ in type; nothing determines the type of the
/// state.
ESPALIER_EXPORT Block fold(const BlockArg& combine, const BlockArg& start);

/// rnn(cell) : carries a state through all elements, with an output at each.
/// Type: seq<a> -> (seq<b>, s);  with cell: (a, s) -> (b, s)
/// Meaning: the first state is zeros, or what `initial` gives. Recurrent cells of nn, which return only their state,
/// can be used directly: their output is h.
/// Example: auto outputs = rnn(lstm) >> get(0);
/// Errors: an infinite sequence; a cell that is not (a, s) -> (b, s); a state whose type neither the cell nor `initial`
/// determines.
ESPALIER_EXPORT Block rnn(const BlockArg& cell);
ESPALIER_EXPORT Block rnn(const BlockArg& cell, const BlockArg& initial);
/// rnn_from(cell) : the same, with the first state from the input.
/// Type: (seq<a>, s) -> (seq<b>, s);  with cell: (a, s) -> (b, s)
/// Meaning: like rnn().
/// Example: auto decoded = all_of({get("words") >> map(word), get("sentence") >> encoder}) >> rnn_from(gru);
/// Errors: like rnn(); the input is not a pair.
ESPALIER_EXPORT Block rnn_from(const BlockArg& cell);

/// reduce(combine) : combines neighbours, round by round, until one element is left.
/// Type: seq<a> -> a;  with combine: (a, a) -> a
/// Meaning: a round combines elements 0 and 1, 2 and 3, and so on; an odd last element moves on to the next round. So
/// the depth is the logarithm of the length, and the order is kept. For an empty sequence: zeros, or what `otherwise`
/// gives.
/// Example: auto total = reduce([](Expr a, Expr b) { return a + b; });
/// Errors: an infinite sequence; the operands and the output of combine differ in type.
ESPALIER_EXPORT Block reduce(const BlockArg& combine);
ESPALIER_EXPORT Block reduce(const BlockArg& combine, const BlockArg& otherwise);

/// sum() : adds all elements.
/// Type: seq<float[..]> -> float[..]
/// Meaning: one operation, whatever the length. For an empty sequence, zeros.
/// Example: auto bag = map(word) >> sum();
/// Errors: an infinite sequence; elements that are not tensors.
ESPALIER_EXPORT Block sum(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
/// min() : the elementwise minimum.
/// Type: seq<float[..]> -> float[..]
/// Meaning: like sum().
/// Example: auto lowest = map(scalar()) >> min();
/// Errors: like sum().
ESPALIER_EXPORT Block min(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
/// max() : the elementwise maximum.
/// Type: seq<float[..]> -> float[..]
/// Meaning: like sum().
/// Example: auto pooled = map(word) >> max();
/// Errors: like sum().
ESPALIER_EXPORT Block max(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
/// mean() : the mean of all elements.
/// Type: seq<float[..]> -> float[..]
/// Meaning: like sum().
/// Example: auto centre = map(word) >> mean();
/// Errors: like sum().
ESPALIER_EXPORT Block mean(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// broadcast() : repeats a value without end.
/// Type: a -> inf<a>
/// Meaning: for use with zip().
/// Example: auto pairs = all_of({get("words") >> map(word), get("query") >> vector(3) >> broadcast()}) >> zip();
/// Errors: none.
ESPALIER_EXPORT Block broadcast(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// zip() : turns several sequences into one sequence of tuples.
/// Type: (seq<a>, inf<b>, ...) -> seq<(a, b, ...)>;  all infinite: inf<(a, b, ...)>
/// Meaning: the result is as long as the shortest sequence.
/// Example: auto pairs = all_of({map(left), map(right)}) >> zip();
/// Errors: the input is not a tuple of sequences.
ESPALIER_EXPORT Block zip(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
/// zip_with(block) : zip() followed by map(block).
/// Type: (seq<a>, seq<b>, ...) -> seq<c>;  with a block (a, b, ...) -> c
/// Meaning: like those two.
/// Example: auto weighed = all_of({map(weight), map(word)}) >> zip_with([](Expr w, Expr x) { return w * x; });
/// Errors: like those two.
ESPALIER_EXPORT Block zip_with(const BlockArg& block);

/// ngrams(n) : all windows of n neighbours.
/// Type: seq<a> -> seq<(a, .., a)>;  inf<a> -> inf<(a, .., a)>
/// Meaning: each window begins one element later. There are none if the sequence is shorter than n.
/// Example: auto bigrams = map(letter) >> ngrams(2) >> map(concat());
/// Errors: n is below 1; the input has no elements.
ESPALIER_EXPORT Block ngrams(std::int32_t n, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// nth() : takes the element whose number is in the data.
/// Type: (seq<a>, input) -> a
/// Meaning: the second input is a whole number; negative numbers count from the end.
/// Example: auto head = all_of({get("words") >> map(word), get("head")}) >> nth();
/// Errors: an infinite sequence; a number outside the sequence (DataError).
ESPALIER_EXPORT Block nth(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// length() : counts the elements.
/// Type: seq<a> -> float[]
/// Meaning: the count is a tensor of rank 0.
/// Example: auto n = get("words") >> length();
/// Errors: an infinite sequence; the input has no elements.
ESPALIER_EXPORT Block length(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// Which elements slice() takes; what is left out is from the first, to the last, each.
struct Slice {
  std::optional<std::int64_t> start = {};  // NOLINT(readability-redundant-member-init): may be left out
  std::optional<std::int64_t> stop = {};   // NOLINT(readability-redundant-member-init)
  std::int64_t step = 1;
};

/// slice({.start, .stop, .step}) : takes some of the elements.
/// Type: seq<a> -> seq<a>;  of a tuple, a tuple
/// Meaning: every step-th element, from start to before stop. Negative positions count from the end; a negative step
/// goes backwards.
/// Example: auto reversed = slice({.step = -1});
/// Errors: a step of 0; an infinite sequence.
ESPALIER_EXPORT Block slice(const Slice& which, const char* file = __builtin_FILE(),
                            std::int32_t line = __builtin_LINE());

}  // namespace espalier::blocks
