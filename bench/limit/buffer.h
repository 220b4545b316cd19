/// Buffer: memory for numbers that is kept from minibatch to minibatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace espalier::bench {

/// Starts at a line of the cache. Grows and never shrinks; growing loses the contents.
template <class T>
class Buffer {
 public:
  /// Room for `size` elements, with what is in it.
  T* room(std::int64_t size) {
    if (size > capacity_) {
      capacity_ = size + size / 4;
      data_.reset(static_cast<T*>(::operator new(static_cast<std::size_t>(capacity_) * sizeof(T), kAlignment)));
    }
    return data_.get();
  }
  T* data() const { return data_.get(); }
  T& operator[](std::int64_t i) const { return data_.get()[i]; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<T, Free> data_;
  std::int64_t capacity_ = 0;
};

}  // namespace espalier::bench
