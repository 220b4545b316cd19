/// Pairs of a right and a predicted answer, as metrics walk over them. Internal.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "espalier/base/error.h"

namespace espalier::train {

inline void require_equal_counts(const std::string& metric, std::size_t expected, std::size_t predicted) {
  if (expected != predicted)
    throw UsageError(metric + ": there are " + std::to_string(expected) + " right answers and " +
                     std::to_string(predicted) + " predicted ones");
}

/// Calls f(expected, predicted) for the pairs whose right answer is known, that is not NaN. Returns how many there are.
template <class F>
std::int64_t for_each_pair(const std::string& metric, std::span<const double> expected,
                           std::span<const double> predicted, const F& f) {
  require_equal_counts(metric, expected.size(), predicted.size());
  std::int64_t count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i])) continue;
    f(expected[i], predicted[i]);
    ++count;
  }
  return count;
}

}  // namespace espalier::train
