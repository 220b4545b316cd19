/// Text files line by line, plain or gzip-compressed, and their errors with line and column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "espalier/base/error.h"
#include "espalier/base/export.h"

namespace espalier::data {

class ByteReader;

/// Reads one line after the other; gzip is recognised by its first bytes, whatever the file is called. Lines end with
/// "\n" or "\r\n", the last one may end with the file.
///
/// Refuses a file that cannot be read (ResourceError), a damaged or cut-off gzip stream and a line of more than 1 GiB
/// (DataError).
class ESPALIER_EXPORT LineReader {
 public:
  explicit LineReader(std::filesystem::path path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end, which lives until the next call; false at the end of the file.
  bool next(std::string_view& line);
  /// Of the line read last, from 1; 0 before the first.
  std::int64_t line_number() const { return line_number_; }
  const std::filesystem::path& path() const { return path_; }
  /// A DataError at a column (in bytes, from 1) of the line read last: "file:line:column: message".
  DataError error_at(std::size_t column, std::string_view message) const;

 private:
  bool refill();

  std::filesystem::path path_;
  std::unique_ptr<ByteReader> source_;
  std::string line_;
  std::string buffer_;
  std::size_t used_ = 0;
  std::int64_t line_number_ = 0;
};

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
