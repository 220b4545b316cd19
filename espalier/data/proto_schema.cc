#include "espalier/data/proto_schema.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "espalier/base/error.h"

namespace espalier::data {
namespace {

namespace pb = google::protobuf;

ProtoType type_of(const pb::FieldDescriptor& field) {
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_BOOL: return ProtoType::kBool;
    case pb::FieldDescriptor::TYPE_INT32: return ProtoType::kInt32;
    case pb::FieldDescriptor::TYPE_INT64: return ProtoType::kInt64;
    case pb::FieldDescriptor::TYPE_UINT32: return ProtoType::kUint32;
    case pb::FieldDescriptor::TYPE_UINT64: return ProtoType::kUint64;
    case pb::FieldDescriptor::TYPE_SINT32: return ProtoType::kSint32;
    case pb::FieldDescriptor::TYPE_SINT64: return ProtoType::kSint64;
    case pb::FieldDescriptor::TYPE_FIXED32: return ProtoType::kFixed32;
    case pb::FieldDescriptor::TYPE_FIXED64: return ProtoType::kFixed64;
    case pb::FieldDescriptor::TYPE_SFIXED32: return ProtoType::kSfixed32;
    case pb::FieldDescriptor::TYPE_SFIXED64: return ProtoType::kSfixed64;
    case pb::FieldDescriptor::TYPE_FLOAT: return ProtoType::kFloat;
    case pb::FieldDescriptor::TYPE_DOUBLE: return ProtoType::kDouble;
    case pb::FieldDescriptor::TYPE_ENUM: return ProtoType::kEnum;
    case pb::FieldDescriptor::TYPE_STRING: return ProtoType::kString;
    case pb::FieldDescriptor::TYPE_BYTES: return ProtoType::kBytes;
    case pb::FieldDescriptor::TYPE_MESSAGE: return ProtoType::kMessage;
    case pb::FieldDescriptor::TYPE_GROUP: return ProtoType::kGroup;
  }
  throw InternalError("protobuf gave a field of a type that is none");
}

// What an absent field is if it has no presence.
Value default_of(const pb::FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_BOOL: return field.default_value_bool();
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
    case pb::FieldDescriptor::CPPTYPE_DOUBLE: return 0.0;
    case pb::FieldDescriptor::CPPTYPE_ENUM: return field.default_value_enum()->name();
    case pb::FieldDescriptor::CPPTYPE_STRING: return "";
    case pb::FieldDescriptor::CPPTYPE_MESSAGE: return nullptr;
    default: return 0;
  }
}

}  // namespace

WireType wire_type_of(ProtoType type) {
  switch (type) {
    case ProtoType::kFixed32:
    case ProtoType::kSfixed32:
    case ProtoType::kFloat: return WireType::kFixed32;
    case ProtoType::kFixed64:
    case ProtoType::kSfixed64:
    case ProtoType::kDouble: return WireType::kFixed64;
    case ProtoType::kString:
    case ProtoType::kBytes:
    case ProtoType::kMessage: return WireType::kLengthDelimited;
    case ProtoType::kGroup: return WireType::kStartGroup;
    default: return WireType::kVarint;
  }
}

// Messages may contain each other, so each is made once, empty, when it is first met, and filled in its turn.
ProtoSchema::ProtoSchema(const pb::Descriptor& root) {
  std::unordered_map<const pb::Descriptor*, ProtoMessage*> known;
  std::unordered_map<const pb::EnumDescriptor*, ProtoEnum*> known_enums;
  std::vector<const pb::Descriptor*> waiting;

  const auto message_of = [&](const pb::Descriptor& descriptor) {
    ProtoMessage*& message = known[&descriptor];
    if (message == nullptr) {
      message = messages_.emplace_back(std::make_unique<ProtoMessage>()).get();
      waiting.push_back(&descriptor);
    }
    return message;
  };
  const auto enum_of = [&](const pb::EnumDescriptor& descriptor) {
    ProtoEnum*& enumeration = known_enums[&descriptor];
    if (enumeration == nullptr) {
      enumeration = enums_.emplace_back(std::make_unique<ProtoEnum>()).get();
      enumeration->closed = descriptor.file()->syntax() == pb::FileDescriptor::SYNTAX_PROTO2;
      // Of names for the same number (aliases), the first declared counts.
      for (int i = 0; i < descriptor.value_count(); ++i)
        enumeration->names.emplace(descriptor.value(i)->number(), descriptor.value(i)->name());
    }
    return enumeration;
  };
  const auto field_of = [&](const pb::FieldDescriptor& descriptor) {
    ProtoField field;
    field.name = descriptor.name();
    field.full_name = descriptor.full_name();
    field.number = static_cast<std::uint32_t>(descriptor.number());
    field.type = type_of(descriptor);
    field.repeated = descriptor.is_repeated();
    field.is_map = descriptor.is_map();
    field.required = descriptor.is_required();
    field.utf8 = descriptor.type() == pb::FieldDescriptor::TYPE_STRING &&
                 descriptor.file()->syntax() == pb::FileDescriptor::SYNTAX_PROTO3;
    // An entry of a map always has both, whatever its bytes say.
    field.presence = descriptor.has_presence() && !descriptor.containing_type()->options().map_entry();
    if (!field.presence) field.default_value = default_of(descriptor);
    if (const pb::OneofDescriptor* oneof = descriptor.real_containing_oneof())
      field.oneof = static_cast<std::size_t>(oneof->index());
    if (const pb::Descriptor* message = descriptor.message_type()) field.message = message_of(*message);
    if (const pb::EnumDescriptor* enumeration = descriptor.enum_type()) field.enumeration = enum_of(*enumeration);
    return field;
  };

  root_ = message_of(root);
  while (!waiting.empty()) {
    const pb::Descriptor& descriptor = *waiting.back();
    waiting.pop_back();
    ProtoMessage& message = *known[&descriptor];
    message.full_name = descriptor.full_name();
    message.map_entry = descriptor.options().map_entry();
    for (int i = 0; i < descriptor.real_oneof_decl_count(); ++i)
      message.oneofs.push_back(descriptor.oneof_decl(i)->name());
    for (int i = 0; i < descriptor.field_count(); ++i) {
      message.fields.push_back(field_of(*descriptor.field(i)));
      message.place_of.emplace(message.fields.back().number, static_cast<std::size_t>(i));
    }
  }
}

}  // namespace espalier::data
