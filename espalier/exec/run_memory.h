/// Memory for whole runs: a few large buffers that are used again after clear().
///
/// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace espalier::exec {

class RunMemory {
 public:
  /// `bytes` bytes aligned to 64, not initialised; they stay until clear() or give().
  std::byte* take(std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    Buffer* best = nullptr;
    Buffer* largest = nullptr;
    for (Buffer& buffer : buffers_) {
      if (buffer.taken) continue;
      if (buffer.size >= size && (best == nullptr || buffer.size < best->size)) best = &buffer;
      if (largest == nullptr || buffer.size > largest->size) largest = &buffer;
    }
    if (best == nullptr) {
      // One that is too small makes way, so that growing runs do not pile up buffers.
      if (largest == nullptr) largest = &buffers_.emplace_back();
      largest->data.reset();
      largest->size = 0;
      const std::size_t roomy = size + size / 4;
      largest->data.reset(static_cast<std::byte*>(::operator new[](roomy, std::align_val_t{kAlignment})));
      largest->size = roomy;
      best = largest;
    }
    best->taken = true;
    used_ += bytes;
    best->asked = bytes;
    return best->data.get();
  }
  void give(const std::byte* data) {
    for (Buffer& buffer : buffers_)
      if (buffer.taken && buffer.data.get() == data) {
        buffer.taken = false;
        used_ -= buffer.asked;
        return;
      }
  }
  /// Everything is given back; the memory is kept for what comes next.
  void clear() {
    for (Buffer& buffer : buffers_) buffer.taken = false;
    used_ = 0;
  }
  std::int64_t bytes_used() const { return used_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{kAlignment}); }
  };
  struct Buffer {
    std::unique_ptr<std::byte[], Free> data;  // NOLINT(modernize-avoid-c-arrays): the array form of unique_ptr
    std::size_t size = 0;
    std::int64_t asked = 0;
    bool taken = false;
  };

  std::vector<Buffer> buffers_;
  std::int64_t used_ = 0;
};

}  // namespace espalier::exec
