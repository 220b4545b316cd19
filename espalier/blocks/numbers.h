/// The code that reads numbers of an input into a leaf of the graph.
#pragma once

#include "espalier/base/shape.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/input_type.h"

namespace espalier::blocks {

/// The type may hold numbers of such a shape.
bool can_read_numbers(const InputType& type, const Shape& shape);
void emit_numbers(Emitter& to, const InputType& type, const Shape& shape, const Registers& from, const Registers& into,
                  SourceLine where);

}  // namespace espalier::blocks
