#include "espalier/ops/reshape.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "espalier/base/error.h"

namespace espalier::ops {

void require_few_elements(std::string_view what, const Operand& x) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (const std::int64_t elements = x.shape().elements(); elements > kMost)
    throw ResourceError(fmt::format("{}: x {} has {} elements, and {} are the most it can take\n  at {}", what,
                                    x.shape().to_string(), elements, kMost, x.where().to_string()));
}

}  // namespace espalier::ops
