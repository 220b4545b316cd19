#include "bench/limit/distinct.h"

#include <cstddef>
#include <numeric>

namespace espalier::bench {

void DistinctRows::assign(std::span<const std::int32_t> uses, bool merge) {
  of_use_.resize(uses.size());
  order_.resize(uses.size());
  if (!merge) {
    rows_.assign(uses.begin(), uses.end());
    begin_.resize(uses.size() + 1);
    std::iota(of_use_.begin(), of_use_.end(), 0);
    std::iota(order_.begin(), order_.end(), 0);
    std::iota(begin_.begin(), begin_.end(), 0);
    return;
  }
  rows_.clear();
  begin_.assign(2, 0);  // counts, two places further on: filling turns them into where each row's uses begin
  for (std::size_t i = 0; i < uses.size(); ++i) {
    std::int32_t& number = number_[static_cast<std::size_t>(uses[i])];
    if (number < 0) {
      number = static_cast<std::int32_t>(rows_.size());
      rows_.push_back(uses[i]);
      begin_.push_back(0);
    }
    of_use_[i] = number;
    ++begin_[static_cast<std::size_t>(number) + 2];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  for (std::size_t i = 0; i < uses.size(); ++i)
    order_[static_cast<std::size_t>(begin_[static_cast<std::size_t>(of_use_[i]) + 1]++)] = static_cast<std::int32_t>(i);
  begin_.pop_back();
  for (const std::int32_t row : rows_) number_[static_cast<std::size_t>(row)] = -1;
}

}  // namespace espalier::bench
