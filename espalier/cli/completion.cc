#include "espalier/cli/completion.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "espalier/cli/commands.h"

namespace espalier::cli {
namespace {

struct CompletedOption {
  std::vector<std::string> names;  // "--out"
  std::string description;
  bool takes_value = false;
  std::vector<std::string> choices;
};

/// What can follow the words of a path such as "espalier train".
struct CompletedCommand {
  std::string path;
  std::vector<std::pair<std::string, std::string>> commands;  // and their descriptions
  std::vector<CompletedOption> options;
};

/// CLI11 writes the values that an option takes into the name of its type: "TEXT:{auto,on,off}".
std::vector<std::string> choices_of(std::string_view type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  std::vector<std::string> choices;
  for (std::string_view rest = type.substr(begin + 1, end - begin - 1); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    choices.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return choices;
}

void collect(const CLI::App& app, const std::string& path, std::vector<CompletedCommand>& result) {
  CompletedCommand command{path, {}, {}};
  for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return one->nonpositional(); })) {
    CompletedOption completed{{}, option->get_description(), option->get_items_expected_max() > 0, {}};
    for (const std::string& name : option->get_lnames()) completed.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) completed.names.push_back("-" + name);
    completed.choices = choices_of(option->get_type_name());
    command.options.push_back(std::move(completed));
  }
  const std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* one : commands) command.commands.emplace_back(one->get_name(), one->get_description());
  result.push_back(std::move(command));
  for (const CLI::App* one : commands) collect(*one, path + " " + one->get_name(), result);
}

std::vector<CompletedCommand> commands_of_line(const CLI::App& app) {
  std::vector<CompletedCommand> result;
  collect(app, app.get_name(), result);
  // Not commands of their own, but other ways to write options (run.cc).
  result[0].commands.emplace_back("help", "Print the help of a command");
  result[0].commands.emplace_back("version", "Print the version");
  return result;
}

/// In single quotes, for both shells.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
  return result + "'";
}

/// A pattern of `case` that matches these words after the path.
std::string pattern(const std::string& path, const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) {
    if (!result.empty()) result += '|';
    result += in_quotes(fmt::format("{} {}", path, word));
  }
  return result;
}

/// The lines of a `case` that follows the words as far as they name commands.
std::string path_cases(const std::vector<CompletedCommand>& commands) {
  std::string text;
  for (const CompletedCommand& command : commands)
    for (const auto& [name, description] : command.commands)
      if (name != "version" && name != "help") text += fmt::format("      {}) ;;\n", pattern(command.path, {name}));
  return text;
}

/// Of the options that take a value: their choices, or files.
std::string value_cases(const std::vector<CompletedCommand>& commands, std::string_view choices,
                        std::string_view files) {
  std::string text;
  for (const CompletedCommand& command : commands)
    for (const CompletedOption& option : command.options) {
      if (!option.takes_value || option.names.empty()) continue;
      std::string action(files);
      if (!option.choices.empty()) action = fmt::format(fmt::runtime(choices), fmt::join(option.choices, " "));
      text += fmt::format("    {}) {}; return ;;\n", pattern(command.path, option.names), action);
    }
  return text;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const std::vector<CompletedCommand> commands = commands_of_line(app);
  std::string text =
      "# Completion of espalier in bash: source <(espalier completion bash)\n"
      "_espalier() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=espalier names= i\n"
      "  # --name=value arrives as three words.\n"
      "  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    [[ ${COMP_WORDS[i]} == help ]] && continue\n"
      "    case \"$at ${COMP_WORDS[i]}\" in\n" +
      path_cases(commands) +
      "      *) continue ;;\n"
      "    esac\n"
      "    at=\"$at ${COMP_WORDS[i]}\"\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$at $before\" in\n" +
      value_cases(commands, "COMPREPLY=($(compgen -W '{}' -- \"$word\"))", "COMPREPLY=()") +
      "  esac\n"
      "  case \"$at\" in\n";
  for (const CompletedCommand& command : commands) {
    std::string names;
    std::string options;
    for (const auto& [name, description] : command.commands) names += (names.empty() ? "" : " ") + name;
    for (const CompletedOption& option : command.options)
      for (const std::string& name : option.names) options += (options.empty() ? "" : " ") + name;
    text += fmt::format("    {}) names={}; [[ $word == -* ]] && names={} ;;\n", in_quotes(command.path),
                        in_quotes(names), in_quotes(options));
  }
  return text +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _espalier espalier\n";
}

std::string zsh_completion(const CLI::App& app) {
  const std::vector<CompletedCommand> commands = commands_of_line(app);
  std::string text =
      "#compdef espalier\n"
      "# Completion of espalier in zsh: source <(espalier completion zsh), after compinit\n"
      "_espalier() {\n"
      "  local at=espalier i\n"
      "  local -a names\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    [[ ${words[i]} == help ]] && continue\n"
      "    case \"$at ${words[i]}\" in\n" +
      path_cases(commands) +
      "      *) continue ;;\n"
      "    esac\n"
      "    at=\"$at ${words[i]}\"\n"
      "  done\n"
      "  case \"$at ${words[CURRENT-1]}\" in\n" +
      value_cases(commands, "compadd -- {}", "_files") +
      "  esac\n"
      "  case \"$at\" in\n";
  // _describe takes name:description, where a colon in the name would be escaped; ours have none.
  for (const CompletedCommand& command : commands) {
    std::string names;
    std::string options;
    for (const auto& [name, description] : command.commands)
      names += " " + in_quotes(fmt::format("{}:{}", name, description));
    for (const CompletedOption& option : command.options)
      for (const std::string& name : option.names) options += " " + in_quotes(name + ":" + option.description);
    text += fmt::format("    {}) names=({}); [[ $PREFIX == -* ]] && names=({}) ;;\n", in_quotes(command.path), names,
                        options);
  }
  return text +
         "  esac\n"
         "  if (( $#names )); then _describe -o espalier names; else _files; fi\n"
         "}\n"
         "if [[ ${funcstack[1]} == _espalier ]]; then _espalier; else compdef _espalier espalier; fi\n";
}

void add_completion(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes commands in bash or zsh");
  command->require_subcommand(1);
  command->footer(
      "In this shell:   source <(espalier completion bash)\n"
      "In every shell:  espalier completion bash > ~/.local/share/bash-completion/completions/espalier");
  command->add_subcommand("bash", "For bash")->callback([&app] { fmt::print("{}", bash_completion(app)); });
  command->add_subcommand("zsh", "For zsh, with descriptions")->callback([&app] {
    fmt::print("{}", zsh_completion(app));
  });
}

}  // namespace espalier::cli
