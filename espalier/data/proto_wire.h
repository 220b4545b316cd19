/// Reading protobuf's wire format: numbers of variable and fixed length, and what is to be skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "espalier/data/proto_schema.h"

namespace espalier::data {

/// One field's head: which field it is, and how it lies in the bytes.
struct ProtoTag {
  std::uint32_t number;
  WireType type;
};

/// Takes bytes from the front of a view into one message, `whole`, and refuses (DataError, with the place in it) what
/// is cut off or malformed.
class ProtoWire {
 public:
  ProtoWire(std::string_view whole, std::string_view source) : whole_(whole), source_(source) {}

  std::uint64_t take_varint(std::string_view& rest) const;
  /// 4 or 8 bytes, the lowest first.
  std::uint64_t take_fixed(std::string_view& rest, std::size_t size) const;
  /// A length, and as many bytes.
  std::string_view take_delimited(std::string_view& rest) const;
  ProtoTag take_tag(std::string_view& rest) const;
  /// What is between the head of a group, which was just taken, and its end, which is taken too.
  std::string_view take_group(std::string_view& rest, std::uint32_t number) const;
  /// Leaves out a field whose head was just taken.
  void skip(std::string_view& rest, ProtoTag tag) const;

  /// `at` points into the whole message, or to its end.
  [[noreturn]] void refuse(const char* at, const std::string& message) const;

 private:
  // Takes all of a field but of a group, of which only the head is taken.
  void skip_flat(std::string_view& rest, WireType type) const;

  std::string_view whole_;
  std::string_view source_;
};

}  // namespace espalier::data
