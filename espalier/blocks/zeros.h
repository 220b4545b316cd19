/// Zeros of a type, which several blocks give where there is nothing else.
#pragma once

#include "espalier/blocks/emitter.h"
#include "espalier/blocks/inference.h"

namespace espalier::blocks {

/// Refuses (UsageError) a type that has none, as far as it is known; `who` is woken when more is.
void require_zeros(Inference& types, BlockNode& who, Term* type);
void emit_zeros(Emitter& to, Term* type, const Registers& into, SourceLine where);

}  // namespace espalier::blocks
