/// A growable array of plain values that is not initialised: one column of a table in struct-of-arrays form.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace espalier {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }

  /// Room for `count` values; the first ones stay. Large columns grow without being copied, where the system can.
  void reserve(std::size_t count) {
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): realloc is the point
    auto* grown = static_cast<T*>(std::realloc(data_.get(), count * sizeof(T)));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(grown);
  }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }  // NOLINT(cppcoreguidelines-no-malloc)
  };
  std::unique_ptr<T[], Free> data_;  // NOLINT(modernize-avoid-c-arrays): the array form of unique_ptr
};

}  // namespace espalier
