/// Form: how the networks of this folder record an instance.
#pragma once

#include <cstdint>

namespace espalier::models {

/// The numbers are the same up to rounding.
enum class Form : std::int32_t {
  kRows,   // a whole instance as a few nodes of many rows (docs/rows.md), which is faster
  kNodes,  // each tree node, word or atom as nodes of its own
};

}  // namespace espalier::models
