/// The rules that group nodes into steps. The files of batch/ explain each of them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier {

enum class Strategy : std::int32_t {
  kNone,      // one node per step, in the order of recording
  kDepth,     // by distance from the sources: Looks et al. 2017 (Fold)
  kAgenda,    // the ready signature of smallest mean depth: Neubig et al. 2017 (DyNet)
  kFrontier,  // run the signature that lowers the bound on steps; else the one that most nodes still depend on
};

inline constexpr std::array kAllStrategies{Strategy::kNone, Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier};

/// "none", "depth", "agenda", "frontier".
ESPALIER_EXPORT std::string_view name_of(Strategy strategy);

/// The strategy of that name. Refuses (UsageError) an unknown name and suggests the nearest.
ESPALIER_EXPORT Strategy strategy_from_name(std::string_view name);

}  // namespace espalier
