/// Functions and blocks that many tests of blocks are about to wire.
#pragma once

#include "espalier/blocks/input_blocks.h"
#include "espalier/blocks/sequence.h"
#include "espalier/ops/add.h"
#include "espalier/ops/negate.h"

namespace espalier::testing {

inline constexpr auto add = [](Expr a, Expr b) { return a + b; };
inline constexpr auto negate = [](Expr a) { return -a; };

/// A list of numbers, as a sequence.
inline blocks::Block numbers() { return blocks::map(blocks::scalar()).takes("seq<input<Value>>"); }
/// One number, again and again.
inline blocks::Block endless() { return blocks::scalar() >> blocks::broadcast(); }

}  // namespace espalier::testing
