/// Completion of the command line by shells, generated from the commands themselves.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace espalier::cli {

/// A script that completes commands, options, and the values of options that have a list of them; everything else as
/// file names. `app` is the whole command line.
std::string bash_completion(const CLI::App& app);
/// The same for zsh, with descriptions.
std::string zsh_completion(const CLI::App& app);

}  // namespace espalier::cli
