/// The rules by which nodes are brought together into steps. What each does is said in batch/.
#pragma once

#include <cstdint>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier {

enum class Strategy : std::int32_t {
  kNone,      // one node a step, in the order of recording
  kDepth,     // by distance from the sources: Looks et al. 2017 (Fold)
  kAgenda,    // the ready signature of smallest mean depth: Neubig et al. 2017 (DyNet)
  kFrontier,  // run what brings the lower bound down; else what most still depends on
};

/// "none", "depth", "agenda", "frontier".
ESPALIER_EXPORT std::string_view name_of(Strategy strategy);

}  // namespace espalier
