/// The size of a tensor along each of its 0 to 4 axes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "espalier/base/export.h"

namespace espalier {

inline constexpr std::int32_t kMaxRank = 4;

/// A value type without padding: unused dimensions are 0, so that equal shapes are equal bytes.
class ESPALIER_EXPORT Shape {
 public:
  constexpr Shape() = default;
  /// Refuses (UsageError) more than four axes and negative sizes, and (ResourceError) more than kMostElements elements.
  Shape(std::initializer_list<std::int64_t> dims) {  // NOLINT(google-explicit-constructor): written as {3, 4}
    if (dims.size() > dims_.size()) refuse_rank(dims.size());
    std::int64_t bits = 0;
    for (const std::int64_t size : dims) {
      if (size < 0 || size > kLargest) refuse_size(size);
      bits |= size;
      dims_[static_cast<std::size_t>(rank_++)] = static_cast<std::int32_t>(size);
    }
    if (bits >> kFewBits != 0) require_countable();
  }

  /// As float64 these fill the address space of a process: no tensor has more, and no count of bytes overflows.
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 44;

  std::int32_t rank() const { return rank_; }
  /// The size along `axis`. Refuses an axis outside 0 .. rank-1.
  std::int32_t operator[](std::int32_t axis) const {
    if (axis < 0 || axis >= rank_) refuse_axis(axis);
    return dims_[static_cast<std::size_t>(axis)];
  }
  /// How many elements: the product of the sizes, 1 for rank 0.
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int32_t axis = 0; axis < rank_; ++axis) n *= dims_[static_cast<std::size_t>(axis)];
    return n;
  }
  /// The size of the last axis; 1 for rank 0.
  std::int32_t last() const { return rank_ == 0 ? 1 : dims_[static_cast<std::size_t>(rank_ - 1)]; }
  /// The same shape with one size changed.
  Shape with(std::int32_t axis, std::int64_t size) const;
  /// The same shape without one axis.
  Shape without(std::int32_t axis) const;
  /// The same shape with an axis of `size` before `axis`.
  Shape inserted(std::int32_t axis, std::int64_t size) const;

  /// As in "[64, 128]"; rank 0 is "[]".
  std::string to_string() const;

  /// Of five numbers, and with every leaf of a graph: written out, it is no call.
  bool operator==(const Shape& other) const {
    std::int32_t differs = rank_ ^ other.rank_;
    for (std::size_t i = 0; i < dims_.size(); ++i) differs |= dims_[i] ^ other.dims_[i];
    return differs == 0;
  }

 private:
  static constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  static constexpr int kFewBits = 11;  // four sizes of so many bits are few elements
  void require_countable() const;
  [[noreturn]] static void refuse_rank(std::size_t rank);
  [[noreturn]] static void refuse_size(std::int64_t size);
  [[noreturn]] void refuse_axis(std::int32_t axis) const;
  std::int32_t rank_ = 0;
  std::array<std::int32_t, kMaxRank> dims_{};
};

}  // namespace espalier
