/// InlineList: a short list of plain values that is on the heap only when it grows long.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <vector>

#include "espalier/base/export.h"

namespace espalier {

template <class T, std::size_t kInline>
class InlineList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  InlineList() = default;
  InlineList(std::initializer_list<T> list) {  // NOLINT(google-explicit-constructor): written as {a, b}
    for (const T& value : list) push_back(value);
  }

  [[gnu::always_inline]] void push_back(const T& value) {
    if (size_ < kInline) [[likely]]
      new (static_cast<void*>(inside() + size_)) T(value);
    else
      push_outside(value);
    ++size_;
  }
  void clear() {
    size_ = 0;
    more_.clear();
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  const T* begin() const { return size_ <= kInline ? inside() : more_.data(); }
  const T* end() const { return begin() + size_; }
  const T* data() const { return begin(); }

 private:
  [[gnu::noinline]] void push_outside(const T& value) {
    if (size_ == kInline) more_.assign(inside(), inside() + size_);
    more_.push_back(value);
  }
  T* inside() { return reinterpret_cast<T*>(room_.data()); }
  const T* inside() const { return reinterpret_cast<const T*>(room_.data()); }

  alignas(T) std::array<std::byte, kInline * sizeof(T)> room_;
  std::vector<T> more_;  // all of them, once they are more than fit inline
  std::size_t size_ = 0;
};

}  // namespace espalier
