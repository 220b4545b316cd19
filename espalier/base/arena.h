/// Memory that only grows and never moves: many small allocations, freed together.
///
/// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/base/allocate.h"

namespace espalier {

class Arena {
 public:
  /// `bytes` bytes aligned to 64; they stay where they are until clear() or the arena's end. Not initialised.
  /// Refuses (ResourceError) more than there is memory for.
  std::byte* allocate(std::size_t bytes) {
    const std::size_t size = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1);
    if (size > left_) grow(size);
    std::byte* result = next_;
    next_ += size;
    left_ -= size;
    used_ += size;
    return result;
  }
  template <class T>
  T* allocate_array(std::int64_t count) {
    return reinterpret_cast<T*>(allocate(static_cast<std::size_t>(count) * sizeof(T)));
  }

  /// Forgets everything; the memory is kept for what comes next.
  void clear() {
    used_ = 0;
    current_ = 0;
    if (!chunks_.empty()) enter(chunks_[0]);
  }

  std::size_t bytes_used() const { return used_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kFirstChunk = std::size_t{1} << 16;
  static constexpr std::size_t kLargestChunk = std::size_t{1} << 26;

  struct Chunk {
    Bytes data;
    std::size_t size = 0;
  };

  void enter(const Chunk& chunk) {
    next_ = chunk.data.get();
    left_ = chunk.size;
  }

  /// Goes on to the next chunk that is large enough, or to a new one.
  void grow(std::size_t at_least) {
    while (current_ + 1 < chunks_.size())
      if (chunks_[++current_].size >= at_least) return enter(chunks_[current_]);
    const std::size_t doubled = chunks_.empty() ? kFirstChunk : std::min(chunks_.back().size * 2, kLargestChunk);
    Chunk chunk;
    chunk.size = std::max(at_least, doubled);
    chunk.data = allocate_bytes(chunk.size, "graph");
    enter(chunk);
    current_ = chunks_.size();
    chunks_.push_back(std::move(chunk));
  }

  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t used_ = 0;
};

}  // namespace espalier
