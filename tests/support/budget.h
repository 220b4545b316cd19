/// Memory budgets that divide a minibatch.
#pragma once

#include <cstdint>

#include "espalier/graph/statistics.h"

namespace espalier::testing {

/// Leaves so much of the memory for values and gradients of nodes that a whole minibatch took, and all of the rest,
/// which cannot be divided or only in part.
inline std::int64_t budget_of(const Statistics& whole, std::int64_t percent) {
  return whole.peak_bytes - whole.node_bytes + whole.node_bytes * percent / 100;
}

}  // namespace espalier::testing
