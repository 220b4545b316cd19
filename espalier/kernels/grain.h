/// How small the parts of a product may be that threads compute.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier::kernels {

/// Multiply-adds below which a part is not worth the waking of a thread: some 5 microseconds of work.
constexpr std::int64_t kLeastWork = std::int64_t{1} << 18;
/// Parts of fewer rows or columns leave the register tiles half empty.
constexpr std::int64_t kLeastSide = 16;

/// The least number of rows (columns) of a part, when each costs `work` multiply-adds.
constexpr std::int64_t grain_for(std::int64_t work) {
  return std::max(kLeastSide, kLeastWork / std::max<std::int64_t>(work, 1));
}

}  // namespace espalier::kernels
