#include "espalier/models/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/base/nearest.h"

namespace espalier::models {
namespace {

std::string range_text(const Setting& setting) {
  const bool above = std::isfinite(setting.least);
  const bool below = setting.most < std::numeric_limits<std::int32_t>::max();
  if (above && below) return fmt::format(" from {} to {}", setting.least, setting.most);
  return above ? fmt::format(" of at least {}", setting.least) : "";
}

[[noreturn]] void refuse(const Setting& setting, const std::string& given) {
  std::string expected;
  if (std::holds_alternative<bool*>(setting.target)) {
    expected = "true or false";
  } else if (std::holds_alternative<std::int32_t*>(setting.target)) {
    expected = "a whole number" + range_text(setting);
  } else if (std::holds_alternative<double*>(setting.target)) {
    expected = "a number" + range_text(setting);
  } else if (setting.choices.empty()) {
    expected = "a text";
  } else {
    expected = fmt::format("one of {}", fmt::join(setting.choices, ", "));
  }
  throw UsageError(fmt::format("setting \"{}\" takes {}, and {} was given", setting.name, expected, given));
}

}  // namespace

Value Setting::value() const {
  return std::visit([](const auto* member) { return Value(*member); }, target);
}

void Setting::assign(const Value& value) const {
  const auto in_range = [&](double number) { return number >= least && number <= most; };
  if (bool* const* flag = std::get_if<bool*>(&target)) {
    if (!value.is_bool()) refuse(*this, value.to_text());
    **flag = value.as_bool();
  } else if (std::int32_t* const* whole = std::get_if<std::int32_t*>(&target)) {
    if (!value.is_integer() || !in_range(value.as_float())) refuse(*this, value.to_text());
    **whole = static_cast<std::int32_t>(value.as_integer());
  } else if (double* const* number = std::get_if<double*>(&target)) {
    if (!(value.is_integer() || value.is_float()) || !in_range(value.as_float())) refuse(*this, value.to_text());
    **number = value.as_float();
  } else {
    if (!value.is_string()) refuse(*this, value.to_text());
    const std::string_view text = value.as_string();
    if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end())
      refuse(*this, value.to_text());
    *std::get<std::string*>(target) = text;
  }
}

void Setting::assign_text(std::string_view text) const {
  if (std::holds_alternative<std::string*>(target)) return assign(Value(text));
  if (std::holds_alternative<bool*>(target)) {
    if (text != "true" && text != "false") refuse(*this, fmt::format("\"{}\"", text));
    return assign(Value(text == "true"));
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    refuse(*this, fmt::format("\"{}\"", text));
  const bool whole =
      std::holds_alternative<std::int32_t*>(target) && number == std::floor(number) && std::abs(number) < 1e15;
  assign(whole ? Value(static_cast<std::int64_t>(number)) : Value(number));
}

void SettingList::add(std::string name, bool& target, std::string help) {
  settings_.push_back({.name = std::move(name), .help = std::move(help), .target = &target});
}
void SettingList::add(std::string name, std::int32_t& target, std::string help, std::int32_t least, std::int32_t most) {
  settings_.push_back({.name = std::move(name),
                       .help = std::move(help),
                       .target = &target,
                       .least = static_cast<double>(least),
                       .most = static_cast<double>(most)});
}
void SettingList::add(std::string name, double& target, std::string help, double least, double most) {
  settings_.push_back(
      {.name = std::move(name), .help = std::move(help), .target = &target, .least = least, .most = most});
}
void SettingList::add(std::string name, std::string& target, std::string help, std::vector<std::string> choices) {
  settings_.push_back(
      {.name = std::move(name), .help = std::move(help), .target = &target, .choices = std::move(choices)});
}

const Setting* SettingList::find(std::string_view name) const {
  for (const Setting& setting : settings_)
    if (setting.name == name) return &setting;
  return nullptr;
}

const Setting& SettingList::at(std::string_view name) const {
  if (const Setting* found = find(name)) return *found;
  std::vector<std::string_view> names;
  for (const Setting& setting : settings_) names.push_back(setting.name);
  throw UsageError(fmt::format("there is no setting \"{}\"{}", name, suggestion_or_names(name, names)));
}

Value SettingList::to_value() const {
  std::vector<Value::Entry> entries;
  for (const Setting& setting : settings_) entries.push_back({setting.name, setting.value()});
  return Value::map(std::move(entries));
}

void SettingList::assign(const Value& map) const {
  if (!map.is_map()) throw UsageError(fmt::format("settings are {}, and not a map", name_of(map.kind())));
  for (const Value::Entry& entry : map.entries()) at(entry.key).assign(entry.value);
}

}  // namespace espalier::models
