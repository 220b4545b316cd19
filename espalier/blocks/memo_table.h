/// MemoTable: what shared() blocks computed for which input, within one instance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "espalier/blocks/slot.h"

namespace espalier::blocks {

class MemoTable {
 public:
  /// The slots that were stored for this input by the block with this number; null if none were.
  const Slot* find(std::int32_t block, const void* identity) const {
    const auto found = places_.find({identity, block});
    return found == places_.end() ? nullptr : slots_.data() + found->second;
  }
  /// Room for `count` slots.
  Slot* store(std::int32_t block, const void* identity, std::size_t count) {
    places_.insert_or_assign({identity, block}, slots_.size());
    slots_.resize(slots_.size() + count);
    return slots_.data() + slots_.size() - count;
  }
  void clear() {
    if (places_.empty()) return;
    places_.clear();
    slots_.clear();
  }

 private:
  struct Key {
    const void* identity;
    std::int32_t block;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.identity) * 31 + static_cast<std::size_t>(key.block);
    }
  };
  std::unordered_map<Key, std::size_t, Hash> places_;
  std::vector<Slot> slots_;
};

}  // namespace espalier::blocks
