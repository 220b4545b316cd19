/// RowIndex: one number per row of a table, for the rows that are asked for. Its memory and its time depend on these
/// rows alone, and not on the size of the table.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::exec {

/// An open-addressed table.
class RowIndex {
 public:
  static constexpr std::int32_t kNone = -1;

  /// The number of a row, to be read and written; kNone if it was never written. Valid until the next call.
  std::int32_t& operator[](std::int32_t row) {
    if (2 * (used_ + 1) > slots_.size()) [[unlikely]]
      grow();
    Slot& slot = slots_[place_of(row)];
    if (slot.epoch != epoch_) {
      slot = {row, kNone, epoch_};
      ++used_;
    }
    return slot.number;
  }
  /// The number of a row, which is `number` if it had none.
  std::int32_t find_or_add(std::int32_t row, std::int32_t number) {
    std::int32_t& known = (*this)[row];
    if (known == kNone) known = number;
    return known;
  }
  /// Forgets all rows; takes no time, and keeps the memory.
  void clear() {
    used_ = 0;
    ++epoch_;
  }

 private:
  struct Slot {
    std::int32_t row = 0;
    std::int32_t number = kNone;
    std::uint64_t epoch = 0;  // that it is of; others are free
  };

  std::size_t place_of(std::int32_t row) const {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // spreads rows that follow each other
    std::size_t place = (static_cast<std::uint64_t>(row) * kGolden) >> shift_;
    while (slots_[place].epoch == epoch_ && slots_[place].row != row) place = (place + 1) & (slots_.size() - 1);
    return place;
  }
  void grow() {
    constexpr std::size_t kFirst = 64;
    std::vector<Slot> old(slots_.empty() ? kFirst : 2 * slots_.size());
    old.swap(slots_);
    shift_ = 64;
    for (std::size_t size = slots_.size(); size > 1; size /= 2) --shift_;
    for (const Slot& slot : old)
      if (slot.epoch == epoch_) slots_[place_of(slot.row)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::uint64_t epoch_ = 1;
  int shift_ = 64;
};

}  // namespace espalier::exec
