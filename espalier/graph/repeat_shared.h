/// Operands made from parameters alone, beside operands of many rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/graph/expr.h"
#include "espalier/graph/recorder.h"

namespace espalier {

/// Whether some operand is shared and has to be repeated for each of `rows` rows (0: as many as another operand has):
/// then all operands are put into `all`, with that one repeated.
bool repeat_shared(Recorder& recorder, const OpInfo& info, std::int32_t rows, std::span<const Operand> operands,
                   OperandList& all);
/// The same of a list.
bool repeat_shared(Recorder& recorder, const OpInfo& info, std::span<const Expr> list, SourceLine where,
                   std::vector<Expr>& all);

}  // namespace espalier
