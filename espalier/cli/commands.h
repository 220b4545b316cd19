/// The commands of `espalier`, each adding itself with its options to the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace espalier::cli {

/// Fills `app` with all commands. A command runs when the line is parsed; it throws espalier::Error.
void add_commands(CLI::App& app);

void add_train_listops(CLI::App& train);
void add_eval(CLI::App& app);
void add_ops(CLI::App& app);
void add_blocks(CLI::App& app);
void add_bench(CLI::App& app);

/// Parses and runs one command line. What goes wrong is one message on stderr, and the result is not 0.
int run(int argc, const char* const* argv);

}  // namespace espalier::cli
