/// A list of types, to be passed around as one.
#pragma once

#include "espalier/base/export.h"

namespace espalier::ops {

template <class... Types>
struct TypeList {};

}  // namespace espalier::ops
