/// Whole: two numbers in one register.
///
/// What is made of two registers is stored in two pieces and, a moment later, copied in one: a processor then waits
/// until both are in the cache. Of small values that are copied with every node, such as Expr, this took a third of
/// what recording cost.
#pragma once

#include <cstdint>

namespace espalier {

using Whole = std::int64_t __attribute__((vector_size(16)));

}  // namespace espalier
