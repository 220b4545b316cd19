/// The one check of the kernels: spans that must have the same length.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "espalier/base/error.h"

namespace espalier::kernels {

[[noreturn]] inline void refuse_sizes(std::string_view kernel, std::size_t first, std::size_t second) {
  throw UsageError(std::string(kernel) + ": spans of " + std::to_string(first) + " and " + std::to_string(second) +
                   " elements must have the same size");
}

inline void require_same_size(std::string_view kernel, std::span<const float> first, std::span<const float> second) {
  if (first.size() != second.size()) refuse_sizes(kernel, first.size(), second.size());
}

}  // namespace espalier::kernels
