/// Unknown commands and options, refused with the nearest name before CLI11 sees the line.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "espalier/base/error.h"
#include "espalier/base/nearest.h"
#include "espalier/cli/commands.h"

namespace espalier::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string_view> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string_view> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool is_option(std::string_view argument) {
  if (argument.size() < 2 || argument[0] != '-') return false;
  return argument[1] == '-' || std::isalpha(static_cast<unsigned char>(argument[1])) != 0;
}

void check_option(const CLI::App& command, const std::string& path, std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  const std::vector<std::string> known = options_of(command);
  const bool is_known = std::any_of(known.begin(), known.end(), [&](const std::string& option) {
    return option.starts_with("--") ? name == option : name.starts_with(option);  // -V, and -j4 where there is a -j
  });
  if (is_known) return;
  std::vector<std::string_view> names;  // one letter is near to every other
  for (const std::string& option : known)
    if (option.starts_with("--")) names.push_back(option);
  std::string advice = suggestion(name, names);
  for (const CLI::App* one : commands_of(command))
    if (advice.empty() && one->get_option_no_throw(std::string(name)) != nullptr)
      advice = fmt::format("; it belongs after a command, as in \"{} {} {}\"", path, one->get_name(), name);
  throw UsageError(fmt::format("{} has no option \"{}\"{} (see {} --help)", path, name, advice, path));
}

}  // namespace

void check_names(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  std::string path = app.get_name();
  bool named = false;  // all words that name a command are behind us
  for (const std::string& argument : arguments) {
    if (command->get_allow_extras()) return;
    const std::vector<const CLI::App*> commands = commands_of(*command);
    if (argument == "--") return;
    if (is_option(argument)) {
      named = true;
      check_option(*command, path, argument);
      if (!commands.empty()) return;  // --help or --version, which end the line
    } else if (!named && !commands.empty()) {
      const auto found = std::find_if(commands.begin(), commands.end(),
                                      [&](const CLI::App* known) { return known->get_name() == argument; });
      if (found == commands.end())
        throw UsageError(fmt::format("{} has no command \"{}\"{} (see {} --help)", path, argument,
                                     suggestion_or_names(argument, names_of(commands)), path));
      command = *found;
      path += " " + argument;
    }
  }
  if (const std::vector<const CLI::App*> commands = commands_of(*command); !commands.empty()) {
    std::string names;
    for (const std::string_view name : names_of(commands))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    throw UsageError(fmt::format("{} needs a command: {} (see {} --help)", path, names, path));
  }
}

}  // namespace espalier::cli
