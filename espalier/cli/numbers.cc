#include "espalier/cli/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/nearest.h"
#include "espalier/base/strategy.h"

namespace espalier::cli {
namespace {

/// The number that the whole text is, if it is one and fits.
template <class T>
std::optional<T> parse(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

CLI::Validator validator(std::string range, std::function<bool(const std::string&)> is_allowed) {
  const auto check = [range, is_allowed = std::move(is_allowed)](std::string& text) {
    return is_allowed(text) ? std::string() : fmt::format("expected {}, found \"{}\"", range, text);
  };
  return {check, range, range};
}

/// As help and completion read it: {auto,on,off}.
std::string in_braces(const std::vector<std::string>& words) { return fmt::format("{{{}}}", fmt::join(words, ",")); }

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return validator(fmt::format("a whole number from {} to {}", least, most), [least, most](const std::string& text) {
    const std::optional<std::int64_t> value = parse<std::int64_t>(text);
    return value && *value >= least && *value <= most;
  });
}

CLI::Validator whole_number_of_64_bits() {
  return validator(fmt::format("a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max()),
                   [](const std::string& text) { return parse<std::uint64_t>(text).has_value(); });
}

CLI::Validator positive_number() {
  return validator("a number above 0", [](const std::string& text) {
    const std::optional<double> value = parse<double>(text);
    return value && std::isfinite(*value) && *value > 0;
  });
}

CLI::Validator non_negative_number() {
  return validator("a number that is 0 or more", [](const std::string& text) {
    const std::optional<double> value = parse<double>(text);
    return value && std::isfinite(*value) && *value >= 0;
  });
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto problem = [words](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    const std::vector<std::string_view> names(words.begin(), words.end());
    return fmt::format("expected {} or {}, found \"{}\"{}", fmt::join(words.begin(), words.end() - 1, ", "),
                       words.back(), text, suggestion(text, names));
  };
  return {problem, in_braces(words), "one_of"};
}

CLI::Validator strategy_name() {
  std::vector<std::string> names;
  names.reserve(kAllStrategies.size());
  for (const Strategy strategy : kAllStrategies) names.emplace_back(name_of(strategy));
  const auto problem = [](const std::string& text) -> std::string {
    try {
      strategy_from_name(text);
      return {};
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  return {problem, in_braces(names), "strategy"};
}

}  // namespace espalier::cli
