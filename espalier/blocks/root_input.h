/// How the data of an instance become what the outermost block takes: data themselves, or tuples, sequences and tensors
/// that are read from them.
#pragma once

#include "espalier/blocks/emitter.h"
#include "espalier/blocks/inference.h"
#include "espalier/blocks/input_type.h"

namespace espalier::blocks {

/// Makes what is unknown of `wanted` an input; refuses (UsageError) a type that cannot be read from `given`.
void bind_root_input(Inference& types, BlockNode& root, Term* wanted, const InputType& given);
/// The registers of `wanted`, read from the input in `from`. Tensors name the line `where`.
Registers emit_root_input(Emitter& to, const InputType& given, Term* wanted, const Registers& from, SourceLine where);

}  // namespace espalier::blocks
