/// Memory for whole runs: large buffers that are used again after clear(), and small pieces of them for small runs.
///
/// A program that asks for values one after the other makes many small runs, all of which keep their values: taking a
/// piece takes the same time however many there are.
///
/// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
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
    auto best = free_.lower_bound(size);
    if (best == free_.end()) {
      // One that is too small makes way, so that growing runs do not pile up buffers.
      if (!free_.empty()) free_.erase(std::prev(free_.end()));
      Bytes data;
      const std::size_t roomy = allocate(size, data);
      best = free_.emplace(roomy, std::move(data));
    }
    std::byte* const data = best->second.get();
    taken_.emplace(data, Buffer{std::move(best->second), best->first, bytes});
    free_.erase(best);
    used_ += bytes;
    return data;
  }
  /// The same for what is to stay until clear(). Small ones share a buffer.
  std::byte* take_lasting(std::int64_t bytes) {
    if (bytes > kSmall) return take(bytes);
    const auto size = static_cast<std::size_t>((std::max<std::int64_t>(bytes, 1) + kAlign - 1) / kAlign * kAlign);
    while (current_ < shared_.size() && shared_[current_].size - shared_[current_].used < size) ++current_;
    if (current_ == shared_.size()) add_shared();
    Shared& shared = shared_[current_];
    newest_ = shared.data.get() + shared.used;
    newest_asked_ = bytes;
    shared.used += size;
    used_ += bytes;
    return newest_;
  }
  /// Gives back what was taken, or the newest of what was to last; others of these stay until clear().
  void give(const std::byte* data) {
    if (data != nullptr && data == newest_) {
      shared_[current_].used = static_cast<std::size_t>(newest_ - shared_[current_].data.get());
      used_ -= newest_asked_;
      newest_ = nullptr;
      return;
    }
    const auto found = taken_.find(data);
    if (found == taken_.end()) return;
    used_ -= found->second.asked;
    free_.emplace(found->second.size, std::move(found->second.data));
    taken_.erase(found);
  }
  /// Everything is given back; the memory is kept for what comes next.
  void clear() {
    for (auto& [data, buffer] : taken_) free_.emplace(buffer.size, std::move(buffer.data));
    taken_.clear();
    for (Shared& shared : shared_) shared.used = 0;
    current_ = 0;
    newest_ = nullptr;
    used_ = 0;
  }
  std::int64_t bytes_used() const { return used_; }

 private:
  static constexpr std::int64_t kAlign = 64;
  static constexpr std::int64_t kSmall = std::int64_t{1} << 16;
  static constexpr std::size_t kFirstShared = std::size_t{1} << 17;
  static constexpr std::size_t kMostShared = std::size_t{1} << 20;

  struct Buffer {
    Bytes data;
    std::size_t size = 0;
    std::int64_t asked = 0;
  };
  /// A buffer of many small pieces, one behind the other.
  struct Shared {
    Bytes data;
    std::size_t size = 0;
    std::size_t used = 0;
  };

  void add_shared() {
    const std::size_t size = shared_.empty() ? kFirstShared : std::min(2 * shared_.back().size, kMostShared);
    Bytes data = allocate_bytes(size, "run");
    shared_.push_back({std::move(data), size, 0});
  }
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

  std::multimap<std::size_t, Bytes> free_;  // by their sizes
  std::unordered_map<const std::byte*, Buffer> taken_;
  std::vector<Shared> shared_;
  std::size_t current_ = 0;      // of shared_, where the next piece is taken
  std::byte* newest_ = nullptr;  // piece of these
  std::int64_t newest_asked_ = 0;
  std::int64_t used_ = 0;
};

}  // namespace espalier::exec
