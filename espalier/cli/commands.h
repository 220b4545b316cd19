/// The commands of `espalier`. Each adds itself and its options to the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace espalier::cli {

/// Fills `app` with all commands. A command runs when the line is parsed; it throws espalier::Error.
void add_commands(CLI::App& app);

void add_train_listops(CLI::App& train);
/// A command per standard model.
void add_train_models(CLI::App& train);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
void add_export(CLI::App& app);
void add_explain(CLI::App& app);
void add_data(CLI::App& app);
void add_ops(CLI::App& app);
void add_blocks(CLI::App& app);
void add_bench(CLI::App& app);
void add_completion(CLI::App& app);

/// Parses and runs the arguments (without the program's name). Returns the exit code, as run() of run.h does.
int run_app(CLI::App& app, std::vector<std::string> arguments);

/// Refuses (UsageError) the first word that names no command and the first option that the named command does not have,
/// each with the nearest name.
void check_names(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace espalier::cli
