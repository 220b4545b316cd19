/// Examples that an op brings along: inputs with outputs computed by hand, shapes to try at random, and shapes that it
/// refuses. The conformance tests and the reference page are made from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
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

/// A list of either, written as {first, second}. Its functions are compiled once, in the library: every file that
/// includes the ops reads the lists of all of them.
template <class T>
class Examples {
 public:
  Examples(std::initializer_list<T> list);  // NOLINT(google-explicit-constructor): written as {first, second}
  Examples(const Examples& other);
  Examples& operator=(const Examples& other);
  ~Examples();

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  const T* begin() const;
  const T* end() const { return begin() + size(); }
  const T& front() const { return *begin(); }
  const T& operator[](std::size_t i) const { return begin()[i]; }

 private:
  std::vector<T> list_;
};
extern template class ESPALIER_EXPORT Examples<OpSample>;
extern template class ESPALIER_EXPORT Examples<OpRefusal>;
using Samples = Examples<OpSample>;
using Refusals = Examples<OpRefusal>;

namespace detail {

/// The bytes of a value; those of an empty type are none.
struct BytesOf {
  template <class T>
  BytesOf(const T& value)  // NOLINT(google-explicit-constructor)
      : data(&value), size(std::is_empty_v<T> ? 0 : sizeof(T)) {}
  const void* data;
  std::size_t size;
};
ESPALIER_EXPORT OpSample gives(BytesOf attrs, BytesOf fields, std::initializer_list<Tensor> inputs,
                               const Tensor& expected);
ESPALIER_EXPORT OpSample works_on(BytesOf attrs, BytesOf fields, std::initializer_list<Shape> shapes);
ESPALIER_EXPORT OpRefusal refuses(BytesOf attrs, BytesOf fields, std::initializer_list<Shape> shapes,
                                  std::string_view sentence);

}  // namespace detail

/// Op{inputs} gives `expected`, computed by hand.
template <class Op>
OpSample gives(std::initializer_list<Tensor> inputs, const Tensor& expected, const typename Op::Attrs& attrs = {},
               const typename Op::Fields& fields = {}) {
  return detail::gives(attrs, fields, inputs, expected);
}

/// Op works on these shapes, whatever the numbers.
template <class Op>
OpSample works_on(std::initializer_list<Shape> shapes, const typename Op::Attrs& attrs = {},
                  const typename Op::Fields& fields = {}) {
  return detail::works_on(attrs, fields, shapes);
}

/// Op refuses these shapes with this first line.
template <class Op>
OpRefusal refuses(std::initializer_list<Shape> shapes, std::string_view sentence, const typename Op::Attrs& attrs = {},
                  const typename Op::Fields& fields = {}) {
  return detail::refuses(attrs, fields, shapes, sentence);
}

}  // namespace espalier
