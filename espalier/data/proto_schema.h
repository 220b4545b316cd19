/// What the bytes of a message mean, in plain tables: made once from protobuf's descriptors, read by the decoder, which
/// needs nothing else of protobuf.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "espalier/data/value.h"

namespace google::protobuf {
class Descriptor;
}

namespace espalier::data {

enum class ProtoType : std::uint8_t {
  kBool,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kSint32,
  kSint64,
  kFixed32,
  kFixed64,
  kSfixed32,
  kSfixed64,
  kFloat,
  kDouble,
  kEnum,
  kString,
  kBytes,
  kMessage,
  kGroup,
};

/// How a field lies in the bytes: the lowest three bits of its tag.
enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

WireType wire_type_of(ProtoType type);

struct ProtoEnum {
  std::unordered_map<std::int32_t, Value> names;
  /// A closed enum has no other values than these.
  bool closed = false;
};

struct ProtoMessage;

struct ProtoField {
  std::string name;
  std::string full_name;  // for messages
  std::uint32_t number = 0;
  ProtoType type = ProtoType::kBool;
  bool repeated = false;
  bool is_map = false;
  bool required = false;
  bool utf8 = false;      // its bytes are checked to be UTF-8
  bool presence = false;  // absent, it is null, not the default
  Value default_value;
  std::size_t oneof = kNoOneof;            // place in the message's oneofs
  const ProtoMessage* message = nullptr;   // of messages, groups, and entries of maps
  const ProtoEnum* enumeration = nullptr;  // of enums

  static constexpr auto kNoOneof = static_cast<std::size_t>(-1);
};

struct ProtoMessage {
  std::string full_name;
  std::vector<ProtoField> fields;  // in the order of declaration
  std::vector<std::string> oneofs;
  std::unordered_map<std::uint32_t, std::size_t> place_of;  // of a field, by its number
  bool map_entry = false;
};

/// A message and all that it can contain.
class ProtoSchema {
 public:
  explicit ProtoSchema(const google::protobuf::Descriptor& root);

  const ProtoMessage& root() const { return *root_; }

 private:
  std::vector<std::unique_ptr<ProtoMessage>> messages_;
  std::vector<std::unique_ptr<ProtoEnum>> enums_;
  const ProtoMessage* root_;
};

}  // namespace espalier::data
