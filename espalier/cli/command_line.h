/// The command line that was given, as text for a shell: for messages that say how to go on.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace espalier::cli {

/// "espalier train listops --epochs 3", with the options that were given, in the order of the help, and without those
/// named `left_out`.
std::string command_line_of(const CLI::App& command, const std::string& left_out);

/// A command was interrupted and can be resumed; the text says how. Ends the program with code 130, as shells do.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace espalier::cli
