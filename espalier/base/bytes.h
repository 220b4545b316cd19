/// How much memory lists have in use.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier {

/// Of their elements, without what is reserved for more.
template <class... T>
std::int64_t memory_of(const std::vector<T>&... lists) {
  return static_cast<std::int64_t>(((lists.size() * sizeof(T)) + ... + 0));  // NOLINT(bugprone-sizeof-expression)
}

}  // namespace espalier
