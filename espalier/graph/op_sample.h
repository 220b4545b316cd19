/// Examples that an op brings along: inputs with outputs computed by hand, shapes to try at random, and shapes that it
/// refuses. The conformance tests and the reference page are made from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/shape.h"
#include "espalier/tensor/tensor.h"

namespace espalier {

/// Attributes and fields of one use of an op, as bytes.
struct OpCall {
  std::vector<std::byte> attrs;
  std::vector<std::byte> fields;
};

/// Either `inputs` with the `expected` output, or `shapes` to be filled with random numbers between low and high.
struct OpSample {
  OpCall call;
  std::vector<Tensor> inputs;
  std::optional<Tensor> expected;
  std::vector<Shape> shapes;
  double low = -2;
  double high = 2;

  /// Random numbers from another range: for a logarithm, a square root.
  OpSample between(double from, double to) && {
    low = from;
    high = to;
    return std::move(*this);
  }
};

struct OpRefusal {
  OpCall call;
  std::vector<Shape> shapes;
  std::string sentence;  // the first line, to the letter
};

using Samples = std::vector<OpSample>;
using Refusals = std::vector<OpRefusal>;

template <class T>
std::vector<std::byte> bytes_of([[maybe_unused]] const T& value) {
  if constexpr (std::is_empty_v<T>) {
    return {};
  } else {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }
}

/// Op{inputs} gives `expected`, computed by hand.
template <class Op>
OpSample gives(std::vector<Tensor> inputs, Tensor expected, const typename Op::Attrs& attrs = {},
               const typename Op::Fields& fields = {}) {
  return {{bytes_of(attrs), bytes_of(fields)}, std::move(inputs), std::move(expected), {}, -2, 2};
}

/// Op works on these shapes, whatever the numbers.
template <class Op>
OpSample works_on(std::vector<Shape> shapes, const typename Op::Attrs& attrs = {},
                  const typename Op::Fields& fields = {}) {
  return {{bytes_of(attrs), bytes_of(fields)}, {}, std::nullopt, std::move(shapes), -2, 2};
}

/// Op refuses these shapes with this first line.
template <class Op>
OpRefusal refuses(std::vector<Shape> shapes, std::string sentence, const typename Op::Attrs& attrs = {},
                  const typename Op::Fields& fields = {}) {
  return {{bytes_of(attrs), bytes_of(fields)}, std::move(shapes), std::move(sentence)};
}

}  // namespace espalier
