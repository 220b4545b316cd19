/// Text line by line, with errors that name the file, the line and the column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/export.h"
#include "espalier/data/input.h"

namespace espalier::data {

class ByteReader;

/// Lines end with "\n" or "\r\n", the last one may end with the input. A byte order mark before the first is dropped.
///
/// Refuses a file that cannot be read (ResourceError); a damaged or cut-off gzip stream, a line that is not UTF-8, and
/// one of more than 16 MiB (DataError). After a refused line next() goes on with the one after it.
class ESPALIER_EXPORT LineReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{1} << 24;

  explicit LineReader(Input input);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end, which lives until the next call; false at the end.
  bool next(std::string_view& line);
  /// Gives back the lines read last: next() returns them once more, and counts them again.
  void put_back(std::vector<std::string> lines);
  /// Passes over lines, also refused ones, until one of which `begins(line)` is true, which next() then returns. False
  /// if the input cannot be read any further.
  template <class Predicate>
  bool skip_to(Predicate begins);
  /// False once the input itself could not be read any further, so that every later call of next() would fail too.
  bool readable() const { return readable_; }

  /// Of the line read last, from 1; 0 before the first.
  std::int64_t line_number() const { return line_number_; }
  /// What errors call the input.
  const std::string& name() const;
  /// A DataError at a column (in bytes, from 1) of the line read last: "file:line:column: message".
  DataError error_at(std::size_t column, std::string_view message) const;
  /// The same for any line.
  DataError error_at(std::int64_t line, std::size_t column, std::string_view message) const;

 private:
  bool refill();
  bool gather(std::string_view& line);
  void check(std::string_view line) const;

  std::unique_ptr<ByteReader> source_;
  std::string buffer_;
  std::size_t used_ = 0;
  std::string line_;  // one that does not lie in buffer_ as a whole
  std::deque<std::string> again_;
  std::int64_t line_number_ = 0;
  bool readable_ = true;
};

template <class Predicate>
bool LineReader::skip_to(Predicate begins) {
  while (readable_) try {
      std::string_view line;
      if (!next(line)) return true;
      if (!begins(line)) continue;
      put_back({std::string(line)});
      return true;
    } catch (const DataError&) {  // of a line: nobody asked for it
    }
  return false;
}

}  // namespace espalier::data
