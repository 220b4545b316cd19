/// Numbers that are none, and counts as the sizes of vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace espalier::testing {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

constexpr std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

}  // namespace espalier::testing
