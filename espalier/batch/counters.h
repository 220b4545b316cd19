/// Blocks of small counters, one for each signature of a group. A node has one only while it is open: from its first
/// user met until it is counted itself, users first. So there are as many as nodes open at a time, not as nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::batch {

template <class T>
class Counters {
 public:
  /// No counter may pass it.
  static constexpr std::int32_t kLargest = std::numeric_limits<T>::max();

  /// Forgets all blocks. From now on a block has at least `members` counters.
  void clear(std::int32_t members) {
    width_ = (static_cast<std::size_t>(members) + kLanes - 1) / kLanes * kLanes;
    used_ = 0;
    free_.clear();
  }

  /// A block of zeros.
  std::int32_t add() {
    const std::int32_t block = take();
    std::fill_n(at(block), width_, T{0});
    return block;
  }
  std::int32_t add_copy(std::int32_t from) {
    const std::int32_t block = take();
    std::copy_n(at(from), width_, at(block));
    return block;
  }
  void remove(std::int32_t block) { free_.push_back(block); }

  T& counter(std::int32_t block, std::int32_t place) { return at(block)[place]; }

  /// Raises every counter of `block` to that of `from`, where that is larger.
  void raise(std::int32_t block, std::int32_t from) {
    if (block == from) return;
    T* __restrict to = at(block);
    const T* __restrict other = at(from);
    for (std::size_t i = 0; i < width_; i += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) to[i + lane] = std::max(to[i + lane], other[i + lane]);
  }

 private:
  static constexpr std::size_t kLanes = 16 / sizeof(T);  // of a register that every target has

  T* at(std::int32_t block) { return values_.data() + static_cast<std::size_t>(block) * width_; }

  std::int32_t take() {
    if (!free_.empty()) {
      const std::int32_t block = free_.back();
      free_.pop_back();
      return block;
    }
    if ((used_ + 1) * width_ > values_.size()) values_.resize(std::max(values_.size() * 2, (used_ + 16) * width_));
    return static_cast<std::int32_t>(used_++);
  }

  std::vector<T> values_;
  std::size_t width_ = 0;
  std::size_t used_ = 0;
  std::vector<std::int32_t> free_;
};

}  // namespace espalier::batch
