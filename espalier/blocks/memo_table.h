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
  enum class State : std::uint8_t { kNew, kBegun, kStored };
  struct Found {
    State state;
    const Slot* slots;  // of what is stored
  };
  /// What there is for this input by the block with this number. What is new has begun from now on.
  Found find_or_begin(std::int32_t block, const void* identity) {
    const auto [found, is_new] = places_.try_emplace({identity, block}, kNotYet);
    if (is_new) return {State::kNew, nullptr};
    if (found->second == kNotYet) return {State::kBegun, nullptr};
    return {State::kStored, slots_.data() + found->second};
  }
  /// Room for `count` slots, for what has begun.
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
  static constexpr std::size_t kNotYet = static_cast<std::size_t>(-1);
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
