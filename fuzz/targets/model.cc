/// The model.json of a folder, without weights.
#include <algorithm>

#include "espalier/data/json.h"
#include "espalier/models/standard_model.h"
#include "fuzz/input.h"

namespace espalier::fuzz {
namespace {

/// Whether all numbers among the settings are small: a model is as large as it is told to be.
bool is_small(const Value& description) {
  constexpr std::int64_t kLargest = 16;
  const Value* settings = description.is_map() ? description.find("settings") : nullptr;
  if (settings == nullptr || !settings->is_map()) return true;
  return std::all_of(settings->entries().begin(), settings->entries().end(), [](const Value::Entry& entry) {
    return !entry.value.is_integer() || entry.value.as_integer() <= kLargest;
  });
}

}  // namespace

void model(std::string_view input) {
  bool small = true;
  accepts([&] { small = is_small(data::parse_json(input)); });
  if (!small) return;
  temporary_file("model.json", input);
  check(!accepts([&] { models::load(temporary_folder()); }), "a folder without weights is refused");
}

}  // namespace espalier::fuzz
