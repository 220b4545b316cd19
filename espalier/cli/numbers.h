/// Checks of option values on the command line. Each names the value it found and what it allows.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace espalier::cli {

/// A whole number from `least` to `most`.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// A whole number from 0 to 2^64 - 1.
CLI::Validator whole_number_of_64_bits();

/// A finite number above 0.
CLI::Validator positive_number();

/// A finite number, 0 or more.
CLI::Validator non_negative_number();

/// One of these words. The nearest is suggested for any other.
CLI::Validator one_of(const std::vector<std::string>& words);

/// The name of a built-in batching strategy.
CLI::Validator strategy_name();

}  // namespace espalier::cli
