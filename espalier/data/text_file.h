/// Writes text files, plain or gzip-compressed, and shows their text in messages.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier::data {

/// Writes a text file all or nothing (AtomicFile), gzip-compressed if its name ends with ".gz".
class ESPALIER_EXPORT TextWriter {
 public:
  explicit TextWriter(const std::filesystem::path& path);
  ~TextWriter();
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  void write(std::string_view text);
  /// Makes the file visible under its name. Call once, last; without it nothing is left behind.
  void commit();

 private:
  class Sink;
  std::unique_ptr<Sink> sink_;
};

/// Text of a file made fit for a message: in quotes, at most 24 bytes of it, what is not printable ASCII as \xNN.
ESPALIER_EXPORT std::string quoted(std::string_view text);

}  // namespace espalier::data
