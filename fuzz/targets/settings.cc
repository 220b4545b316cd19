/// Settings of runs and models: as JSON, and as lines "name=value".
#include "espalier/models/settings.h"

#include "espalier/data/json.h"
#include "espalier/models/run_settings.h"
#include "espalier/models/standard_model.h"
#include "fuzz/input.h"

namespace espalier::fuzz {
namespace {

void assign(const models::SettingList& settings, std::string_view input) {
  accepts([&] { settings.assign(data::parse_json(input)); });
  for (const std::string_view line : lines_of(input)) {
    const std::size_t sign = line.find('=');
    if (sign != std::string_view::npos)
      accepts([&] { settings.at(line.substr(0, sign)).assign_text(line.substr(sign + 1)); });
  }
  const Value values = settings.to_value();
  settings.assign(values);
  check(settings.to_value() == values, "settings that were written read back the same");
}

}  // namespace

void settings(std::string_view input) {
  models::RunSettings run;
  assign(models::settings_of(run), input);
  run.trainer_options();
  for (const std::string_view name : models::names()) {
    const auto one = models::make(name);
    assign(one->settings(), input);
  }
}

}  // namespace espalier::fuzz
