/// Where a reader takes its bytes from: a file, standard input, or a text in memory.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "espalier/base/export.h"

namespace espalier::data {

class ESPALIER_EXPORT Input {
 public:
  // Implicit, so that every reader takes a path.
  // NOLINTBEGIN(google-explicit-constructor)
  /// A file, plain or gzip: gzip is recognised by its first bytes, whatever the file is called. "-" is standard input.
  Input(std::filesystem::path path) : path_(std::move(path)) {}
  Input(const char* path) : path_(path) {}
  Input(const std::string& path) : path_(path) {}
  // NOLINTEND(google-explicit-constructor)

  /// A text, which `name` names in errors.
  static Input text(std::string text, std::string name = "text");

  /// What errors call it: the path, "standard input", or the name of the text.
  std::string name() const { return path_ == "-" ? "standard input" : path_.string(); }

  /// Whether it is a path: neither standard input nor a text in memory.
  bool is_file() const { return !in_memory_ && path_ != "-"; }
  /// Whether it is the path of a folder, which only some readers take.
  bool is_folder() const {
    std::error_code ignored;
    return is_file() && std::filesystem::is_directory(path_, ignored);
  }

 private:
  friend class ByteReader;

  std::filesystem::path path_;  // or the name of the text
  std::string text_;
  bool in_memory_ = false;
};

/// Whether the name of a file ends with one of these, or with one of these and ".gz".
ESPALIER_EXPORT bool has_ending(std::string_view file, std::initializer_list<std::string_view> endings);

}  // namespace espalier::data
