#include "espalier/optim/call_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>

#include "espalier/base/error.h"

namespace espalier::optim {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

}  // namespace

CallText::CallText(std::string_view kind, std::string_view text) : kind_(kind), text_(text) {
  const std::size_t open = text.find('(');
  name = trimmed(text.substr(0, open));
  if (open == std::string_view::npos) return;
  std::string_view rest = trimmed(text.substr(open + 1));
  if (rest.empty() || rest.back() != ')') refuse("a ')' is missing at its end");
  rest = trimmed(rest.substr(0, rest.size() - 1));
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    add(trimmed(rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? std::string_view() : trimmed(rest.substr(comma + 1));
    if (comma != std::string_view::npos && rest.empty()) refuse("an option is missing after the last ','");
  }
}

void CallText::add(std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) refuse(fmt::format("\"{}\" is not of the form option=value", part));
  Option option{trimmed(part.substr(0, equals)), trimmed(part.substr(equals + 1))};
  if (option.name == "lr") option.name = "learning_rate";
  for (const Option& other : options)
    if (other.name == option.name) refuse(fmt::format("the option \"{}\" is given twice", option.name));
  options.push_back(option);
}

double CallText::number(const Option& option) const {
  double number = 0;
  const char* const end = option.value.data() + option.value.size();
  const auto [stop, error] = std::from_chars(option.value.data(), end, number);
  if (error != std::errc() || stop != end || option.value.empty())
    refuse(fmt::format("the option \"{}\" must be a number, not \"{}\"", option.name, option.value));
  return number;
}

bool CallText::flag(const Option& option) const {
  if (option.value == "true") return true;
  if (option.value == "false") return false;
  refuse(fmt::format("the option \"{}\" must be true or false, not \"{}\"", option.name, option.value));
}

void CallText::refuse(const std::string& sentence) const {
  throw UsageError(fmt::format("{} \"{}\": {}", kind_, text_, sentence));
}

}  // namespace espalier::optim
