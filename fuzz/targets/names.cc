/// Names and small texts of the command line: strategies, models, types of blocks.
#include "espalier/base/nearest.h"
#include "espalier/base/strategy.h"
#include "espalier/blocks/type.h"
#include "espalier/models/standard_model.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

void names(std::string_view input) {
  accepts([&] { check(name_of(strategy_from_name(input)) == input, "a strategy has the name it was found by"); });
  accepts([&] { check(models::make(input)->name() == input, "a model has the name it was found by"); });
  accepts([&] { models::summary_of(input); });
  suggestion_or_names(input, models::names());
  check_round_trip(
      input, [](std::string_view text) { return blocks::Type::parse(text); },
      [](const blocks::Type& type) { return type.to_text(); });
}

}  // namespace espalier::fuzz
