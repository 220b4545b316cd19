/// The whole command, for main(): this header includes nothing.
#pragma once

namespace espalier::cli {

/// Parses and runs one command line. Returns the exit code: 0 on success, 2 if the command line is wrong, 1 if anything
/// else is. An error is one message on stderr.
int run(int argc, const char* const* argv);

}  // namespace espalier::cli
