#include "espalier/base/strategy.h"

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

}  // namespace espalier
