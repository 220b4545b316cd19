/// Where in the user's program something was asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

struct SourceLine {
  const char* file = "";
  std::int32_t line = 0;

  /// As in "tree_lstm.cc:88", without folders.
  std::string to_string() const {
    std::string_view path = file;
    if (auto slash = path.rfind('/'); slash != std::string_view::npos) path.remove_prefix(slash + 1);
    return std::string(path) + ":" + std::to_string(line);
  }
};

}  // namespace espalier
