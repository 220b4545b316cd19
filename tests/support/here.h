/// here(): how a message names a line of the file that calls it.
#pragma once

#include <string>
#include <string_view>

namespace espalier::testing {

inline std::string here(int line, std::string_view file = __builtin_FILE()) {
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(line);
}

}  // namespace espalier::testing
