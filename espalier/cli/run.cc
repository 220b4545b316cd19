#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

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

/// The command that a line names, as far as it can be told: for the hint in a message.
std::string command_path(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  return path;
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
    return complain(fmt::format("{} (see {} --help)", error.what(), command_path(app)).c_str(), kUsage);
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
