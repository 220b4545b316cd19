/// Views of many equally long rows of float32: what a step kernel reads and writes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "espalier/base/export.h"

namespace espalier {

/// `count` rows of `width` elements. Row i starts at data + offsets[i] if there are offsets, else at data + i * stride.
/// A stride of 0 is one row shared by all.
template <class T>
struct BasicRows {
  T* data = nullptr;
  std::int64_t count = 0;
  std::int64_t width = 0;
  std::int64_t stride = 0;
  const std::int64_t* offsets = nullptr;

  T* operator[](std::int64_t i) const { return data + (offsets != nullptr ? offsets[i] : i * stride); }

  bool shared() const { return offsets == nullptr && stride == 0; }
  /// One block without gaps, or a single row: may be passed on as data and count * width elements.
  bool dense() const { return count == 1 || (offsets == nullptr && stride == width); }
  /// Evenly spaced: may be passed on as a matrix with a leading dimension.
  bool even() const { return count == 1 || (offsets == nullptr && stride >= width); }

  operator BasicRows<const T>() const  // NOLINT(google-explicit-constructor): as T* converts to const T*
      requires(!std::is_const_v<T>) {
    return {data, count, width, stride, offsets};
  }
};

using Rows = BasicRows<float>;
using ConstRows = BasicRows<const float>;

}  // namespace espalier
