/// Where in the user's program something was asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "espalier/base/whole.h"

namespace espalier {

class SourceLine {
 public:
  SourceLine(const char* file = "", std::int32_t line = 0)  // NOLINT(google-explicit-constructor): {file, line}
      : parts_{reinterpret_cast<std::intptr_t>(file), line} {}

  const char* file() const { return reinterpret_cast<const char*>(parts_[0]); }
  std::int32_t line() const { return static_cast<std::int32_t>(parts_[1]); }

  /// As in "tree_lstm.cc:88", without folders.
  std::string to_string() const {
    std::string_view path = file();
    if (auto slash = path.rfind('/'); slash != std::string_view::npos) path.remove_prefix(slash + 1);
    return std::string(path) + ":" + std::to_string(line());
  }

 private:
  Whole parts_;
};

}  // namespace espalier
