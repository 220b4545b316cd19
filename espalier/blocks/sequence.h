/// Blocks over sequences. Where one takes seq<a>, it also takes a tuple of equal types and an input that is a list.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"

namespace espalier::blocks {

/// map(block) : a block over each element.
/// Type: seq<a> -> seq<b>;  inf<a> -> inf<b>;  with a block a -> b
/// Meaning: the results in the same order. Of an infinite sequence the block runs once.
/// Example: auto words = map(lookup(vocabulary) >> embedding(table));
/// Errors: an input that has no elements.
ESPALIER_EXPORT Block map(const BlockArg& block);

/// fold(combine, start) : one state through all elements, from the first to the last.
/// Type: seq<a> -> s;  with combine: (s, a) -> s and start: nothing -> s
/// Meaning: combine(... combine(combine(start, x0), x1) ..., xn). Without elements, start.
/// Example: auto last = fold(combine, zeros(150));
/// Errors: infinite sequences; a combine whose state and result differ; a state whose type nobody says.
ESPALIER_EXPORT Block fold(const BlockArg& combine, const BlockArg& start);

/// rnn(cell) : a state through all elements, and an output at each.
/// Type: seq<a> -> (seq<b>, s);  with cell: (a, s) -> (b, s)
/// Meaning: the state begins with zeros, or with what `initial` gives. A recurrent cell of nn, which gives its state
/// alone, is taken as it is: its output is h.
/// Example: auto outputs = rnn(lstm) >> get(0);
/// Errors: infinite sequences; a cell that is not (a, s) -> (b, s); a state whose type neither cell nor `initial` says.
ESPALIER_EXPORT Block rnn(const BlockArg& cell);
ESPALIER_EXPORT Block rnn(const BlockArg& cell, const BlockArg& initial);
/// rnn_from(cell) : the same with its first state from the input.
/// Type: (seq<a>, s) -> (seq<b>, s);  with cell: (a, s) -> (b, s)
/// Meaning: as rnn().
/// Example: auto decoded = all_of({get("words") >> map(word), get("sentence") >> encoder}) >> rnn_from(gru);
/// Errors: as rnn(); an input that is no pair.
ESPALIER_EXPORT Block rnn_from(const BlockArg& cell);

/// reduce(combine) : neighbours together, round by round, until one is left.
/// Type: seq<a> -> a;  with combine: (a, a) -> a
/// Meaning: a round combines elements 0 and 1, 2 and 3, and so on; an odd last one goes on to the next round. So the
/// depth is the logarithm of the length, and the order is kept. Without elements: zeros, or what `otherwise` gives.
/// Example: auto total = reduce([](Expr a, Expr b) { return a + b; });
/// Errors: infinite sequences; a combine whose operands and result differ.
ESPALIER_EXPORT Block reduce(const BlockArg& combine);
ESPALIER_EXPORT Block reduce(const BlockArg& combine, const BlockArg& otherwise);

/// sum() : the sum of all elements.
/// Type: seq<float[..]> -> float[..]
/// Meaning: one operation, whatever the length. Zeros without elements.
/// Example: auto bag = map(word) >> sum();
/// Errors: infinite sequences; elements that are no tensors.
ESPALIER_EXPORT Block sum(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
/// min() : the elementwise minimum.
/// Type: seq<float[..]> -> float[..]
/// Meaning: as sum().
/// Example: auto lowest = map(scalar()) >> min();
/// Errors: as sum().
ESPALIER_EXPORT Block min(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
/// max() : the elementwise maximum.
/// Type: seq<float[..]> -> float[..]
/// Meaning: as sum().
/// Example: auto pooled = map(word) >> max();
/// Errors: as sum().
ESPALIER_EXPORT Block max(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
/// mean() : the mean of all elements.
/// Type: seq<float[..]> -> float[..]
/// Meaning: as sum().
/// Example: auto centre = map(word) >> mean();
/// Errors: as sum().
ESPALIER_EXPORT Block mean(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// broadcast() : the same value for ever.
/// Type: a -> inf<a>
/// Meaning: to be zipped with a sequence.
/// Example: auto pairs = all_of({get("words") >> map(word), get("query") >> vector(3) >> broadcast()}) >> zip();
/// Errors: none.
ESPALIER_EXPORT Block broadcast(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// zip() : sequences side by side.
/// Type: (seq<a>, inf<b>, ...) -> seq<(a, b, ...)>;  all infinite: inf<(a, b, ...)>
/// Meaning: as long as the shortest.
/// Example: auto pairs = all_of({map(left), map(right)}) >> zip();
/// Errors: an input that is no tuple of sequences.
ESPALIER_EXPORT Block zip(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
/// zip_with(block) : zip() and map(block).
/// Type: (seq<a>, seq<b>, ...) -> seq<c>;  with a block (a, b, ...) -> c
/// Meaning: as those.
/// Example: auto weighed = all_of({map(weight), map(word)}) >> zip_with([](Expr w, Expr x) { return w * x; });
/// Errors: as those.
ESPALIER_EXPORT Block zip_with(const BlockArg& block);

/// ngrams(n) : every n neighbours.
/// Type: seq<a> -> seq<(a, .., a)>;  inf<a> -> inf<(a, .., a)>
/// Meaning: windows of n elements, each one further; none where there are fewer than n.
/// Example: auto bigrams = map(letter) >> ngrams(2) >> map(concat());
/// Errors: an n below 1; an input that has no elements.
ESPALIER_EXPORT Block ngrams(std::int32_t n, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// nth() : the element that the data choose.
/// Type: (seq<a>, input) -> a
/// Meaning: the input is a whole number; a negative one counts from the end.
/// Example: auto head = all_of({get("words") >> map(word), get("head")}) >> nth();
/// Errors: infinite sequences; a number outside the sequence (DataError).
ESPALIER_EXPORT Block nth(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// length() : how many elements.
/// Type: seq<a> -> float[]
/// Meaning: as a tensor of rank 0.
/// Example: auto n = get("words") >> length();
/// Errors: infinite sequences; an input that has no elements.
ESPALIER_EXPORT Block length(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// Which elements slice() takes; what is left out is from the first, to the last, each.
struct Slice {
  std::optional<std::int64_t> start = {};  // NOLINT(readability-redundant-member-init): may be left out
  std::optional<std::int64_t> stop = {};   // NOLINT(readability-redundant-member-init)
  std::int64_t step = 1;
};

/// slice({.start, .stop, .step}) : some of the elements.
/// Type: seq<a> -> seq<a>;  of a tuple, a tuple
/// Meaning: from start to before stop, every step-th. Negative places count from the end; a negative step goes
/// backwards.
/// Example: auto reversed = slice({.step = -1});
/// Errors: a step of 0; infinite sequences.
ESPALIER_EXPORT Block slice(const Slice& which, const char* file = __builtin_FILE(),
                            std::int32_t line = __builtin_LINE());

}  // namespace espalier::blocks
