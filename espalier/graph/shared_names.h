/// How shared nodes are called in the keys of signatures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "espalier/base/export.h"

namespace espalier {

/// In a key, the name of a shared input; other input words are types.
inline constexpr std::uint32_t kSharedInput = 0x80000000U;

/// Names of parameters, and of what was derived from them, count down from here by their numbers, which stay. All other
/// shared nodes are named by their ids, from 1. There are fewer nodes than would reach the others.
inline constexpr std::uint32_t kFirstName = 0x7FFFFFFFU;
inline constexpr std::int32_t kMostNumbers = 1 << 20;
inline constexpr std::int32_t kMostNodes = std::numeric_limits<std::int32_t>::max() - 2 * kMostNumbers;

inline std::uint32_t name_of_number(std::int32_t number) { return kFirstName - static_cast<std::uint32_t>(number); }
inline bool is_name_of_number(std::uint32_t name) {
  return name > kFirstName - static_cast<std::uint32_t>(kMostNumbers);
}
inline std::uint32_t name_of_node(std::size_t node) { return static_cast<std::uint32_t>(node) + 1; }

}  // namespace espalier
