#include "espalier/data/proto_wire.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "espalier/base/error.h"

namespace espalier::data {

std::uint64_t ProtoWire::take_varint(std::string_view& rest) const {
  constexpr std::size_t kLongest = 10;  // bytes, of 7 bits each
  const char* begin = rest.data();
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLongest; ++i) {
    if (rest.empty()) refuse(begin, "expected a varint, but it is cut off");
    const auto byte = static_cast<unsigned char>(rest[0]);
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) return value;
  }
  refuse(begin, "expected a varint of at most 10 bytes");
}

std::uint64_t ProtoWire::take_fixed(std::string_view& rest, std::size_t size) const {
  if (rest.size() < size)
    refuse(rest.data(), fmt::format("expected a number of {} bytes, but {} are left", size, rest.size()));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  rest.remove_prefix(size);
  return value;
}

std::string_view ProtoWire::take_delimited(std::string_view& rest) const {
  const std::uint64_t length = take_varint(rest);
  if (length > rest.size())
    refuse(rest.data(), fmt::format("expected {} bytes of a field, but {} are left", length, rest.size()));
  const std::string_view bytes = rest.substr(0, length);
  rest.remove_prefix(length);
  return bytes;
}

ProtoTag ProtoWire::take_tag(std::string_view& rest) const {
  const char* begin = rest.data();
  const std::uint64_t tag = take_varint(rest);
  const std::uint64_t type = tag & 7;
  if (tag > std::numeric_limits<std::uint32_t>::max() || tag >> 3 == 0 || type > 5)
    refuse(begin, fmt::format("expected a field number from 1 to 2^29 - 1 with a wire type from 0 to 5, not {} with {}",
                              tag >> 3, type));
  return {static_cast<std::uint32_t>(tag >> 3), static_cast<WireType>(type)};
}

void ProtoWire::skip_flat(std::string_view& rest, WireType type) const {
  switch (type) {
    case WireType::kVarint: take_varint(rest); break;
    case WireType::kFixed64: take_fixed(rest, 8); break;
    case WireType::kFixed32: take_fixed(rest, 4); break;
    case WireType::kLengthDelimited: take_delimited(rest); break;
    case WireType::kStartGroup:
    case WireType::kEndGroup: break;
  }
}

std::string_view ProtoWire::take_group(std::string_view& rest, std::uint32_t number) const {
  const std::string_view body = rest;
  std::vector<std::uint32_t> open{number};
  while (true) {
    const char* at = rest.data();
    if (rest.empty()) refuse(at, fmt::format("expected the end of group {}, but the message ends", open.back()));
    const ProtoTag tag = take_tag(rest);
    skip_flat(rest, tag.type);
    if (tag.type == WireType::kStartGroup) open.push_back(tag.number);
    if (tag.type != WireType::kEndGroup) continue;
    if (tag.number != open.back())
      refuse(at, fmt::format("expected the end of group {}, not that of group {}", open.back(), tag.number));
    open.pop_back();
    if (open.empty()) return body.substr(0, static_cast<std::size_t>(at - body.data()));
  }
}

void ProtoWire::skip(std::string_view& rest, ProtoTag tag) const {
  if (tag.type == WireType::kEndGroup)
    refuse(rest.data(), fmt::format("expected a field, not the end of group {}, which did not begin", tag.number));
  if (tag.type == WireType::kStartGroup) {
    take_group(rest, tag.number);
  } else {
    skip_flat(rest, tag.type);
  }
}

void ProtoWire::refuse(const char* at, const std::string& message) const {
  throw DataError(fmt::format("{}: byte {}: {}", source_, at - whole_.data(), message));
}

}  // namespace espalier::data
