/// A dense array of rank 0 to 4 that owns its memory: float32, float64 or int32, row-major, 64-byte aligned.
///
/// Thread safety: like a std::vector: any number of readers, or one writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/dtype.h"
#include "espalier/base/export.h"
#include "espalier/base/shape.h"

namespace espalier {

class ESPALIER_EXPORT Tensor {
 public:
  /// A float32 scalar 0.
  Tensor();
  /// Zeros.
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
  Tensor(const Shape& shape, DType dtype, Unset) : shape_(shape), dtype_(dtype) { allocate(); }

  struct Free {
    void operator()(std::byte* p) const;
  };
  void allocate();
  void require(DType dtype) const;

  Shape shape_;
  DType dtype_ = DType::kFloat32;
  std::unique_ptr<std::byte[], Free> data_;  // NOLINT(modernize-avoid-c-arrays): the array form of unique_ptr
};

}  // namespace espalier
