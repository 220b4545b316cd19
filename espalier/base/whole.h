/// Whole: two numbers in one register.
///
/// What is made of two registers is stored in two pieces and, a moment later, copied in one: a processor then waits
/// until both are in the cache. Of small values that are copied with every node, such as Expr, this took a third of
/// what recording cost.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"

namespace espalier {

using Whole = std::int64_t __attribute__((vector_size(16)));

/// One of the two numbers from an address, and back.
inline std::int64_t number_of(const void* address) { return reinterpret_cast<std::intptr_t>(address); }
template <class T>
T* address_in(std::int64_t number) {
  return reinterpret_cast<T*>(static_cast<std::intptr_t>(number));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace espalier
