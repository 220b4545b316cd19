/// A dense array of rank 0 to 4 that owns its memory: float32, float64 or int32, row-major, 64-byte aligned.
///
/// Thread safety: like a std::vector: any number of readers, or one writer.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/allocate.h"
#include "espalier/base/dtype.h"
#include "espalier/base/export.h"
#include "espalier/base/shape.h"

namespace espalier {

class ESPALIER_EXPORT Tensor {
 public:
  /// A float32 scalar 0.
  Tensor();
  /// Zeros. Those of a large tensor take neither time nor memory until they are touched. Refuses (ResourceError), as
  /// all that makes a tensor does, more bytes than there is memory for.
  explicit Tensor(const Shape& shape, DType dtype = DType::kFloat32);
  /// Copies `values` in row-major order. Refuses a count that differs from shape.elements().
  Tensor(const Shape& shape, std::initializer_list<float> values);
  template <class T>
  static Tensor from(const Shape& shape, std::span<const T> values);
  template <class T>
  static Tensor from(const Shape& shape, const std::vector<T>& values) {
    return from(shape, std::span<const T>(values));
  }
  /// The elements are whatever was in memory: for those who write all of them.
  static Tensor unset(const Shape& shape, DType dtype = DType::kFloat32);
  static Tensor filled(const Shape& shape, double value, DType dtype = DType::kFloat32);

  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;
  ~Tensor() = default;

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t elements() const { return shape_.elements(); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype_); }

  /// The elements in row-major order. Refuses a T that is not the dtype.
  template <class T>
  std::span<const T> as() const;
  template <class T>
  std::span<T> as();
  const std::byte* data() const { return data_.get(); }
  std::byte* data() { return data_.get(); }

  /// The only element. Refuses a tensor of more than one.
  double item() const;
  /// Element i in row-major order, whatever the dtype. Slow; for printing and tests.
  double at(std::int64_t i) const;
  void set(std::int64_t i, double value);
  /// The element at these coordinates, one per axis: t.at({i, j}), or t(i, j). Slow; for reading results. Refuses
  /// (UsageError) another number of coordinates, and coordinates outside the shape.
  double at(std::initializer_list<std::int64_t> coordinates) const;
  void set(std::initializer_list<std::int64_t> coordinates, double value);
  template <std::convertible_to<std::int64_t>... I>
  double operator()(I... coordinates) const {
    return at({static_cast<std::int64_t>(coordinates)...});
  }

  /// The place of the largest element in row-major order, the first of several. NaN counts as the largest. Refuses a
  /// tensor without elements.
  std::int64_t argmax() const;
  /// The same along an axis, which goes away: int32 coordinates. A negative axis counts from the last.
  Tensor argmax(std::int32_t axis) const;

  /// The same numbers in another element type.
  Tensor to(DType dtype) const;
  /// The same numbers in another shape. Refuses another number of elements.
  Tensor reshaped(const Shape& shape) const;

  /// As in "float32[2, 3]{1, 2, 3, 4, 5, 6}", shortened after 8 elements.
  std::string to_string() const;

  /// Same dtype, shape and bytes.
  bool operator==(const Tensor& other) const;

 private:
  struct Unset {};
  Tensor(const Shape& shape, DType dtype, Unset);
  void require(DType dtype) const;
  std::int64_t place_of(std::initializer_list<std::int64_t> coordinates) const;

  Shape shape_;
  DType dtype_ = DType::kFloat32;
  Bytes data_;
};

}  // namespace espalier
