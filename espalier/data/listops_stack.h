/// Evaluates a ListOps expression token by token, keeping its own stack. Internal to the ListOps files.
///
/// Invariant: values_ holds the arguments of the outermost open operator, then those of the next one, ...; each open
/// operator knows where its own begin.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/data/listops.h"

namespace espalier::data {

/// Of one or more digits.
inline std::int32_t apply_listops(std::int32_t op, std::span<const std::uint8_t> arguments) {
  std::array<std::int64_t, 10> counts{};
  std::int64_t sum = 0;
  for (const std::uint8_t value : arguments) {
    ++counts[static_cast<std::size_t>(value)];
    sum += value;
  }
  // The argument at a place in sorted order.
  const auto sorted = [&](std::size_t place) {
    std::int32_t digit = 0;
    for (auto seen = counts[0]; seen <= static_cast<std::int64_t>(place);)
      seen += counts[static_cast<std::size_t>(++digit)];
    return digit;
  };
  const std::size_t n = arguments.size();
  switch (op) {
    case kListOpsMin: return sorted(0);
    case kListOpsMax: return sorted(n - 1);
    case kListOpsMed: return (sorted((n - 1) / 2) + sorted(n / 2)) / 2;
    default: return static_cast<std::int32_t>(sum % 10);
  }
}

class ListOpsStack {
 public:
  void clear() {
    open_.clear();
    values_.clear();
  }
  /// False, and nothing changed, if the token cannot stand here.
  bool push(std::int32_t token) {
    if (token < 0 || token > kListOpsEnd || complete()) return false;
    if (token < kListOpsMin) {
      values_.push_back(static_cast<std::uint8_t>(token));
    } else if (token < kListOpsEnd) {
      open_.push_back({token, values_.size()});
    } else {
      if (open_.empty() || arguments() < 2) return false;
      const Open list = open_.back();
      open_.pop_back();
      const std::int32_t value = apply_listops(list.op, std::span(values_).subspan(list.begin));
      values_.resize(list.begin);
      values_.push_back(static_cast<std::uint8_t>(value));
    }
    return true;
  }
  std::size_t open_lists() const { return open_.size(); }
  /// Of the innermost open operator.
  std::size_t arguments() const { return values_.size() - open_.back().begin; }
  bool complete() const { return open_.empty() && !values_.empty(); }
  /// Of a complete expression.
  std::int32_t value() const { return values_.front(); }

 private:
  struct Open {
    std::int32_t op;
    std::size_t begin;
  };
  std::vector<Open> open_;
  std::vector<std::uint8_t> values_;
};

}  // namespace espalier::data
