/// `espalier bench` runs the program `espalier-bench` beside the command, so that the command does without its code.
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "espalier/base/error.h"
#include "espalier/cli/commands.h"

namespace espalier::cli {
namespace {

void run_program(const std::vector<std::string>& arguments) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("espalier-bench");
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  if (errno == ENOENT)
    throw UsageError("this build has no benchmark: \"" + program + "\" does not exist; ./dev bench builds and runs it");
  throw ResourceError("cannot run \"" + program + "\": " + std::generic_category().message(errno));
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Run the benchmark, if it was built (see espalier bench --help)");
  command->set_help_flag();  // so that the program prints its own help
  command->prefix_command()->allow_extras();
  command->callback([command] { run_program(command->remaining()); });
}

}  // namespace espalier::cli
