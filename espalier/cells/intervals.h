/// Intervals: some columns of a row, and which others are missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace espalier::cells {

class Intervals {
 public:
  void add(std::int64_t begin, std::int64_t end) { list_.emplace_back(begin, end); }
  /// The parts of [begin, end) that are in no interval.
  std::vector<std::pair<std::int64_t, std::int64_t>> gaps(std::int64_t begin, std::int64_t end) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> sorted = list_;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    for (const auto& [from, to] : sorted) {
      if (to <= begin || from >= end) continue;
      if (from > begin) result.emplace_back(begin, from);
      begin = std::max(begin, to);
    }
    if (begin < end) result.emplace_back(begin, end);
    return result;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> list_;
};

}  // namespace espalier::cells
