/// The code of tap(), which watched blocks need too.
#pragma once

#include <string>

#include "espalier/blocks/emitter.h"
#include "espalier/blocks/type.h"

namespace espalier::blocks {

/// Collects a value of this type by this name. Refuses (UsageError) a name that stands for another type.
void emit_tap(Emitter& to, const std::string& name, const Type& type, const Registers& value);

}  // namespace espalier::blocks
