/// Writing protobuf's wire format, field by field: for messages whose fields are known to the code.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "espalier/data/proto_schema.h"

namespace espalier::data {

/// Appends the fields of one message. Fields may come in any order; that of their numbers is usual.
class ProtoWriter {
 public:
  ProtoWriter& integer(std::uint32_t field, std::int64_t value) {
    tag(field, WireType::kVarint);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  ProtoWriter& number(std::uint32_t field, double value) {
    tag(field, WireType::kFixed64);
    fixed(std::bit_cast<std::uint64_t>(value), sizeof(value));
    return *this;
  }
  ProtoWriter& number(std::uint32_t field, float value) {
    tag(field, WireType::kFixed32);
    fixed(std::bit_cast<std::uint32_t>(value), sizeof(value));
    return *this;
  }
  /// Text, bytes, or a message within this one.
  ProtoWriter& bytes(std::uint32_t field, std::string_view value) {
    tag(field, WireType::kLengthDelimited);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoWriter& message(std::uint32_t field, const ProtoWriter& value) { return bytes(field, value.bytes_); }

  const std::string& finish() const { return bytes_; }

 private:
  void tag(std::uint32_t field, WireType type) { varint(std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  /// The lowest byte first.
  void fixed(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }

  std::string bytes_;
};

}  // namespace espalier::data
