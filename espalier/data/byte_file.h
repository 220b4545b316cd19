/// The bytes of a file in pieces, plain or gzip-compressed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

// zlib's, which only byte_file.cc includes.
struct gzFile_s;

namespace espalier::data {

/// gzip is recognised by its first bytes, whatever the file is called. Refuses a file that cannot be read
/// (ResourceError) and a damaged or cut-off gzip stream (DataError).
class ByteReader {
 public:
  explicit ByteReader(std::filesystem::path path);
  ~ByteReader();
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  /// Reads at most `room` bytes (below 2^31) and returns how many: 0 at the end of the file only.
  std::size_t read(char* bytes, std::size_t room);
  /// Replaces `buffer` by the next piece; false at the end of the file.
  bool read_piece(std::string& buffer);
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  gzFile_s* stream_ = nullptr;
};

/// All bytes of the file, unpacked.
std::string read_bytes(const std::filesystem::path& path);

}  // namespace espalier::data
