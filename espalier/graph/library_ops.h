/// The ops of the library's own list. Declared here, where the registry needs it; defined in ops/registry.cc, which
/// sees the ops themselves.
#pragma once

#include <span>

#include "espalier/graph/op_info.h"

namespace espalier {

std::span<const OpInfo> library_ops();

}  // namespace espalier
