/// A text that is being read, and errors that name the place in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "espalier/base/error.h"

namespace espalier::data {

struct TextSource {
  /// The file, or what a message calls the text.
  std::string name;
  std::string_view text;
  /// Of the first line of the text in the file.
  std::int64_t first_line = 1;

  /// "line:column" of a byte of the text; the column counts bytes from 1.
  std::string place(std::size_t offset) const;
  /// "name:line:column: message".
  DataError error_at(std::size_t offset, std::string_view message) const;
};

}  // namespace espalier::data
