#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "espalier/base/nearest.h"
#include "espalier/optim/call_text.h"
#include "espalier/optim/schedule.h"

namespace espalier::optim {
namespace {

/// The numbers of a schedule's text, by name.
class ScheduleNumbers {
 public:
  ScheduleNumbers(const CallText& text, const std::vector<std::string_view>& names) : text_(text) {
    for (const CallText::Option& option : text.options) {
      bool known = false;
      for (const std::string_view name : names) known = known || name == option.name;
      if (!known)
        text.refuse(
            fmt::format("{} has no option \"{}\"{}", text.name, option.name, suggestion_or_names(option.name, names)));
      numbers_[option.name] = text.number(option);
    }
  }
  double needed(std::string_view name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) text_.refuse(fmt::format("the option \"{}\" is missing", name));
    return found->second;
  }
  double given_or(std::string_view name, double otherwise) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? otherwise : found->second;
  }
  std::int64_t count(std::string_view name) const {
    constexpr double kMost = 0x1p53;
    const double number = needed(name);
    if (!(number >= 1 && number <= kMost) || number != std::floor(number))
      text_.refuse(fmt::format("the option \"{}\" must be a whole number from 1, not {}", name, number));
    return static_cast<std::int64_t>(number);
  }

 private:
  const CallText& text_;
  std::map<std::string_view, double> numbers_;
};

}  // namespace

Schedule parse_schedule(std::string_view text, std::int64_t steps) {
  const CallText parts("schedule", text);
  const auto numbers = [&](const std::vector<std::string_view>& names) { return ScheduleNumbers(parts, names); };
  if (parts.name == "constant") {
    numbers({});
    return constant_rate();
  }
  if (parts.name == "cosine") return cosine_decay(steps, numbers({"floor"}).given_or("floor", 0));
  if (parts.name == "step" || parts.name == "exponential") {
    const ScheduleNumbers of = numbers({"every", "factor"});
    const auto decay = parts.name == "step" ? step_decay : exponential_decay;
    return decay(of.count("every"), of.needed("factor"));
  }
  if (parts.name == "inverse_time") return inverse_time_decay(numbers({"rate"}).needed("rate"));
  const std::vector<std::string_view> names{"constant", "cosine", "step", "exponential", "inverse_time"};
  parts.refuse(fmt::format("there is no schedule \"{}\"{}", parts.name, suggestion_or_names(parts.name, names)));
}

}  // namespace espalier::optim
