#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/cli/command_line.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/run.h"

namespace espalier::cli {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr int kInterrupted = 130;
constexpr const char* kOutputLost = "cannot write to standard output";

int complain(const char* text, int code) {
  fmt::print(stderr, "espalier: {}\n", text);
  return code;
}

/// 0 if all that was printed reached its place.
int finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return complain(kOutputLost, kFailure);
  return 0;
}

/// A command that a line names, and the words that name it.
struct NamedCommand {
  const CLI::App* command;
  std::string path;
};

NamedCommand named_command(const CLI::App& app) {
  NamedCommand named{&app, app.get_name()};
  while (!named.command->get_subcommands().empty()) {
    named.command = named.command->get_subcommands().front();
    named.path += " " + named.command->get_name();
  }
  return named;
}

/// What is before `mark` in a text that has it.
std::optional<std::string> part_before(const std::string& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? std::nullopt : std::optional(text.substr(0, at));
}

/// What CLI11 refuses, as a sentence about the named command.
std::string sentence_of(const CLI::ParseError& error, const NamedCommand& named) {
  std::string text = error.what();
  if (const auto name = part_before(text, " is required")) {
    const CLI::Option* option = named.command->get_option_no_throw(*name);
    std::string description = option == nullptr ? "" : ": " + option->get_description();
    if (!description.empty()) description[2] = static_cast<char>(std::tolower(description[2]));
    return fmt::format("{} needs {}{}", named.path, *name, description);
  }
  if (part_before(text, " not expected: "))
    return fmt::format("{} takes no argument \"{}\"", named.path, text.substr(text.find(": ") + 2));
  if (const auto name = part_before(text, ": At Most 1 ")) return fmt::format("{} can be given only once", *name);
  if (const auto name = part_before(text, ": 1 required ")) return fmt::format("{} needs a value", *name);
  if (const auto name = part_before(text, " was given a disallowed")) return fmt::format("{} takes no value", *name);
  constexpr std::string_view kNotConverted = "Could not convert: ";  // of a flag: other options have checks
  if (const auto name = part_before(text, " = "); name && name->starts_with(kNotConverted))
    return fmt::format("{} takes no value", name->substr(kNotConverted.size()));
  if (const auto name = part_before(text, " excludes "))
    return fmt::format("{} and {} exclude each other", *name, text.substr(name->size() + 10));
  return text;
}

/// `help`, `help train` and `version` are other ways to write `--help`, `train --help` and `--version`.
void spell_out(std::vector<std::string>& arguments) {
  if (arguments.empty()) return;
  if (arguments[0] == "version") {
    arguments[0] = "--version";
  } else if (arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
}

}  // namespace

void add_commands(CLI::App& app) {
  app.set_version_flag("-V,--version", std::string("espalier ") + ESPALIER_VERSION);
  app.footer(
      "`espalier help COMMAND` prints the help of a command.\n"
      "Exit codes: 0 success, 1 a file, data or memory, 2 the command line, 130 interrupted: the message says"
      " how to resume.");
  CLI::App* train = app.add_subcommand("train", "Train a model");
  train->require_subcommand(1);
  add_train_listops(*train);
  add_train_models(*train);
  add_eval(app);
  add_predict(app);
  add_export(app);
  add_explain(app);
  add_data(app);
  add_ops(app);
  add_blocks(app);
  add_bench(app);
  add_completion(app);
}

int run_app(CLI::App& app, std::vector<std::string> arguments) {
  try {
    thread_count();  // so that a wrong ESPALIER_THREADS is told before any work
    check_names(app, arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(std::move(arguments));
    return finish_output();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      return finish_output();
    }
    const NamedCommand named = named_command(app);
    return complain(fmt::format("{} (see {} --help)", sentence_of(error, named), named.path).c_str(), kUsage);
  } catch (const Interrupted& interrupted) {
    std::fflush(stdout);
    return complain(interrupted.what(), kInterrupted);
  } catch (const UsageError& error) {
    return complain(error.what(), kUsage);
  } catch (const Error& error) {
    return complain(error.what(), kFailure);
  } catch (const std::bad_alloc&) {
    return complain("there is not enough memory", kFailure);
  } catch (const std::exception& error) {
    // What fmt throws when it cannot print does not say where to.
    return complain(std::ferror(stdout) != 0 ? kOutputLost : error.what(), kFailure);
  }
}

int run(int argc, const char* const* argv) {
  CLI::App app("Neural networks over trees, graphs and sequences of any shape, batched automatically.", "espalier");
  add_commands(app);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  spell_out(arguments);
  return run_app(app, std::move(arguments));
}

}  // namespace espalier::cli
