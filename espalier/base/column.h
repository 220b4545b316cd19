/// A growable array of plain values that is not initialised: one column of a table in struct-of-arrays form.
#pragma once

#include <cstdlib>
#include <type_traits>

#include "espalier/base/allocate.h"

namespace espalier {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  ~Column() { std::free(data_); }  // NOLINT(cppcoreguidelines-no-malloc)
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* data() { return data_; }
  const T* data() const { return data_; }

  /// Room for `count` values; the first ones stay. Large columns grow without being copied, where the system can.
  void reserve(std::size_t count) {
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): realloc is the point
    auto* grown = static_cast<T*>(std::realloc(data_, count * sizeof(T)));
    if (grown == nullptr) refuse_bytes(count * sizeof(T), "graph");
    data_ = grown;
  }

 private:
  T* data_ = nullptr;
};

}  // namespace espalier
