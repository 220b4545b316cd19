#include "espalier/base/strategy.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/base/nearest.h"

namespace espalier {

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::kNone: return "none";
    case Strategy::kDepth: return "depth";
    case Strategy::kAgenda: return "agenda";
    case Strategy::kFrontier: return "frontier";
  }
  return "unknown";
}

Strategy strategy_from_name(std::string_view name) {
  std::array<std::string_view, kAllStrategies.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = name_of(kAllStrategies[i]);
    if (names[i] == name) return kAllStrategies[i];
  }
  throw UsageError(fmt::format("there is no strategy \"{}\": the strategies are none, depth, agenda and frontier{}",
                               name, suggestion(name, names)));
}

}  // namespace espalier
