/// The bytes of an Input in pieces; gzip is unpacked on the way.
#pragma once

#include <cstddef>
#include <string>

#include "espalier/data/input.h"

// zlib's, which only byte_file.cc includes.
struct gzFile_s;

namespace espalier::data {

/// gzip is recognised by its first bytes, whatever the file is called. Refuses a file that cannot be read
/// (ResourceError) and a damaged or cut-off gzip stream (DataError).
class ByteReader {
 public:
  explicit ByteReader(Input input);
  ~ByteReader();
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  /// Reads at most `room` bytes (below 2^31) and returns how many: 0 at the end of the file only.
  std::size_t read(char* bytes, std::size_t room);
  /// Replaces `buffer` by the next piece; false at the end of the file.
  bool read_piece(std::string& buffer);
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::string text_;      // of an input in memory, which is never unpacked
  std::size_t used_ = 0;  // of text_
  gzFile_s* stream_ = nullptr;
};

/// All bytes, unpacked.
std::string read_bytes(Input input);

}  // namespace espalier::data
