/// Completes a program whose instructions are known: which of them run tile by tile, what backward does, what forward
/// leaves for it, where everything is, and the op that a use is recorded as.
#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/cells/program.h"

namespace espalier::cells {

/// `results` is how many results the cell has, `random_bytes` how many bytes of fields its random ops have.
void lay_out(Program& program, std::size_t results, std::int64_t random_bytes);

}  // namespace espalier::cells
