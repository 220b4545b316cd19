/// Lets GoogleTest print Values.
#pragma once

#include <ostream>

#include "espalier/data/value.h"

namespace espalier {

inline void PrintTo(const Value& value, std::ostream* stream) { *stream << value.to_text(); }

}  // namespace espalier
