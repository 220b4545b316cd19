/// Completes a program whose instructions are known: which of them run tile by tile, what backward does, what forward
/// leaves for it, where everything is, and the op that a use is recorded as.
#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/cells/program.h"

namespace espalier::cells {

/// What is known of a cell's op when its program is laid out.
struct CellFacts {
  std::size_t results = 1;
  std::int64_t random_bytes = 0;
  std::uint64_t keep_inputs = 0;   // that backward reads, a bit each
  std::uint32_t keep_results = 0;  // likewise
  std::uint64_t weights_read_inputs = 0;
  std::uint32_t weights_read_results = 0;
  bool weights_read_dy = false;
  bool overwrites_saved = false;
};

/// Makes the ops that a use of the program, and its further results, are recorded as (cells/program_infos.cc).
void make_infos(Program& program, const CellFacts& facts);

/// `results` is how many results the cell has, `random_bytes` how many bytes of fields its random ops have.
void lay_out(Program& program, std::size_t results, std::int64_t random_bytes);

}  // namespace espalier::cells
