/// at(): where something numbered stands in a vector. Numbers are signed here, and those of vectors are not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/base/ids.h"

namespace espalier {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
constexpr std::size_t at(NodeId node) { return static_cast<std::size_t>(index_of(node)); }

}  // namespace espalier
