#include "espalier/data/proto_delimited.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier::data {

bool ProtoDelimitedFile::next(std::string& message) {
  begin_ = offset_;
  if (at_end()) return false;
  const std::uint64_t length = take_length();
  message.clear();
  while (message.size() < length) {
    if (at_end()) refuse(fmt::format("expected a message of {} bytes, but {} are left", length, message.size()));
    const std::size_t count = std::min<std::uint64_t>(length - message.size(), piece_.size() - used_);
    message.append(piece_, used_, count);
    used_ += count;
    offset_ += count;
  }
  return true;
}

std::uint64_t ProtoDelimitedFile::take_length() {
  constexpr int kLongest = 10;  // bytes, of 7 bits each
  std::uint64_t length = 0;
  for (int i = 0; i < kLongest; ++i) {
    if (at_end()) refuse("expected the length of a message, but it is cut off");
    const auto byte = static_cast<unsigned char>(piece_[used_++]);
    ++offset_;
    length |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) return length;
  }
  refuse("expected the length of a message as a varint of at most 10 bytes");
}

std::string ProtoDelimitedFile::name() const { return fmt::format("{}: message at byte {}", file_.name(), begin_); }

bool ProtoDelimitedFile::at_end() {
  if (used_ < piece_.size()) return false;
  used_ = 0;
  return !file_.read_piece(piece_);
}

void ProtoDelimitedFile::refuse(const std::string& message) const {
  throw DataError(fmt::format("{}: byte {}: {}", file_.name(), begin_, message));
}

}  // namespace espalier::data
