/// Memory for plain values that keeps its size between uses and is not initialised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace espalier::batch {

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Room for at least `count` values, whose contents are not defined.
  T* room(std::size_t count) {
    if (count > capacity_) {
      data_.reset();
      capacity_ = 0;
      const std::size_t larger = count + count / 4;  // so that sizes that vary a little soon allocate nothing
      data_ = std::make_unique_for_overwrite<T[]>(larger);
      capacity_ = larger;
    }
    return data_.get();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;  // NOLINT(modernize-avoid-c-arrays): the array form of unique_ptr
  std::size_t capacity_ = 0;
};

}  // namespace espalier::batch
