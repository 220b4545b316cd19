/// Messages in a file, each after its length as a varint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "espalier/data/byte_file.h"

namespace espalier::data {

/// Bytes come in pieces, so that no more memory is taken than the file has bytes, whatever length it claims.
class ProtoDelimitedFile {
 public:
  explicit ProtoDelimitedFile(const std::filesystem::path& path) : file_(path) {}

  /// The bytes of the next message; false at the end of the file. Refuses (DataError) one that is cut off.
  bool next(std::string& message);
  /// What errors call the message that was read last.
  std::string name() const;

 private:
  std::uint64_t take_length();
  bool at_end();
  [[noreturn]] void refuse(const std::string& message) const;

  ByteReader file_;
  std::string piece_;
  std::size_t used_ = 0;  // of the piece
  std::uint64_t offset_ = 0;
  std::uint64_t begin_ = 0;
};

}  // namespace espalier::data
