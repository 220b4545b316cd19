/// FilePath: where a file is, as functions of the library take it. Text and std::filesystem::path convert to it, and a
/// header that takes one need not include <filesystem>, which takes a compiler as long as half of the library's own.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {

class FilePath {
 public:
  FilePath(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)
  FilePath(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  FilePath(std::string_view text) : text_(text) {}        // NOLINT(google-explicit-constructor)
  template <class Path>
  requires requires(const Path& path) {
    { path.native() } -> std::same_as<const std::string&>;
  }
  FilePath(const Path& path) : text_(path.native()) {}  // NOLINT(google-explicit-constructor)

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace espalier
