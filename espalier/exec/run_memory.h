/// Memory for whole runs: a few large buffers that are used again after clear().
///
/// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/base/allocate.h"
#include "espalier/base/error.h"

namespace espalier::exec {

class RunMemory {
 public:
  /// `bytes` bytes aligned to 64, not initialised; they stay until clear() or give(). Refuses (ResourceError)
  /// more than there is memory for.
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
      largest->size = allocate(size, largest->data);
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
  /// More than is asked for where there is room, so that runs may grow. Gives how many bytes there are.
  static std::size_t allocate(std::size_t size, Bytes& data) {
    const std::size_t roomy = size + size / 4;
    try {
      data = allocate_bytes(roomy, "run");
      return roomy;
    } catch (const ResourceError&) {
      data = allocate_bytes(size, "run");
      return size;
    }
  }
  struct Buffer {
    Bytes data;
    std::size_t size = 0;
    std::int64_t asked = 0;
    bool taken = false;
  };

  std::vector<Buffer> buffers_;
  std::int64_t used_ = 0;
};

}  // namespace espalier::exec
