/// Ranks of numbers. Internal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace espalier::train {

/// The rank of each number, the smallest being 1; equal ones share the mean of their ranks. NaN comes last.
inline std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto less = [&](std::size_t a, std::size_t b) {
    return values[a] < values[b] || (values[a] == values[a] && values[b] != values[b]);
  };
  std::sort(order.begin(), order.end(), less);
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && !less(order[begin], order[end])) ++end;
    for (std::size_t i = begin; i < end; ++i) result[order[i]] = static_cast<double>(begin + 1 + end) / 2;
    begin = end;
  }
  return result;
}

}  // namespace espalier::train
