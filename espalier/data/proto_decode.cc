#include "espalier/data/proto_decode.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/proto_wire.h"
#include "espalier/data/utf8.h"

namespace espalier::data {
namespace {

constexpr auto kNothing = static_cast<std::size_t>(-1);

// Undoes protobuf's encoding of signed numbers that makes those near zero short.
std::int64_t unzigzag(std::uint64_t bits) { return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1)); }

/// Messages within messages are on a stack of our own. A message is first read flat: its scalars at once, of messages
/// in it only where their bytes are. Then these are read one by one.
class Decoder {
 public:
  Decoder(std::string_view bytes, std::string_view source) : wire_(bytes, source) {}

  Value decode(const ProtoMessage& type, std::string_view bytes) {
    open_.push_back(read_flat(type, {bytes}, false));
    while (true) {
      Message& message = open_.back();
      if (message.next < message.inner.size()) {
        Inner& inner = message.inner[message.next];
        Message first = read_flat(*message.type->fields[inner.field].message, std::exchange(inner.parts, {}),
                                  message.dropped || inner.dropped);
        open_.push_back(std::move(first));
        continue;
      }
      Value done = finish(message);
      open_.pop_back();
      if (open_.empty()) return done;
      Message& outer = open_.back();
      const Inner& inner = outer.inner[outer.next++];
      if (!inner.dropped) put(outer, inner.field, std::move(done));
    }
  }

 private:
  // Where a message within a message is. If it is not repeated and yet there several times, it is all of these one
  // after the other: so protobuf merges them.
  struct Inner {
    std::size_t field;
    std::vector<std::string_view> parts;
    bool dropped = false;  // another member of its oneof followed: it is read, and comes to nothing
  };
  struct Slot {
    Value value;
    std::vector<Value> items;      // of a repeated field
    std::size_t inner = kNothing;  // of a message that is not repeated: its place in Message::inner
    bool set = false;
  };
  struct Message {
    const ProtoMessage* type = nullptr;
    const char* end = nullptr;
    std::vector<Slot> slots;           // one a field
    std::vector<std::size_t> members;  // one a oneof: the field that is set, or kNothing
    std::vector<Inner> inner;
    std::size_t next = 0;  // of inner
    bool dropped = false;
  };

  Message read_flat(const ProtoMessage& type, const std::vector<std::string_view>& parts, bool dropped) {
    Message message;
    message.type = &type;
    message.end = parts.back().data() + parts.back().size();
    message.dropped = dropped;
    message.slots.resize(type.fields.size());
    message.members.assign(type.oneofs.size(), kNothing);
    for (std::string_view rest : parts)
      while (!rest.empty()) read_field(message, rest);
    // A map's entry has a value also where its bytes do not say so.
    if (type.map_entry)
      for (std::size_t i = 0; i < type.fields.size(); ++i)
        if (type.fields[i].message != nullptr && !message.slots[i].set) add_inner(message, i, {message.end, 0});
    return message;
  }

  void read_field(Message& message, std::string_view& rest) {
    const ProtoTag tag = wire_.take_tag(rest);
    const auto known = message.type->place_of.find(tag.number);
    if (known == message.type->place_of.end()) return wire_.skip(rest, tag);
    const std::size_t place = known->second;
    const ProtoField& field = message.type->fields[place];
    const WireType own = wire_type_of(field.type);
    if (tag.type == own) {
      if (field.type == ProtoType::kMessage) {
        add_inner(message, place, wire_.take_delimited(rest));
      } else if (field.type == ProtoType::kGroup) {
        add_inner(message, place, wire_.take_group(rest, tag.number));
      } else if (std::optional<Value> value = take_scalar(field, rest)) {
        put(message, place, std::move(*value));
      }
    } else if (field.repeated && tag.type == WireType::kLengthDelimited && own != WireType::kStartGroup) {
      for (std::string_view packed = wire_.take_delimited(rest); !packed.empty();)
        if (std::optional<Value> value = take_scalar(field, packed)) put(message, place, std::move(*value));
    } else {
      wire_.skip(rest, tag);  // the field of another declaration
    }
  }

  // Nothing for a value that a closed enum does not have.
  std::optional<Value> take_scalar(const ProtoField& field, std::string_view& rest) const {
    const char* begin = rest.data();
    switch (field.type) {
      case ProtoType::kBool: return wire_.take_varint(rest) != 0;
      case ProtoType::kInt32: return static_cast<std::int32_t>(wire_.take_varint(rest));
      case ProtoType::kInt64: return static_cast<std::int64_t>(wire_.take_varint(rest));
      case ProtoType::kUint32: return static_cast<std::uint32_t>(wire_.take_varint(rest));
      case ProtoType::kUint64: return unsigned_value(field, begin, wire_.take_varint(rest));
      case ProtoType::kSint32: return unzigzag(static_cast<std::uint32_t>(wire_.take_varint(rest)));
      case ProtoType::kSint64: return unzigzag(wire_.take_varint(rest));
      case ProtoType::kFixed32: return wire_.take_fixed(rest, 4);
      case ProtoType::kFixed64: return unsigned_value(field, begin, wire_.take_fixed(rest, 8));
      case ProtoType::kSfixed32: return static_cast<std::int32_t>(wire_.take_fixed(rest, 4));
      case ProtoType::kSfixed64: return static_cast<std::int64_t>(wire_.take_fixed(rest, 8));
      case ProtoType::kFloat: return std::bit_cast<float>(static_cast<std::uint32_t>(wire_.take_fixed(rest, 4)));
      case ProtoType::kDouble: return std::bit_cast<double>(wire_.take_fixed(rest, 8));
      case ProtoType::kEnum: {
        const auto number = static_cast<std::int32_t>(wire_.take_varint(rest));
        const auto name = field.enumeration->names.find(number);
        if (name != field.enumeration->names.end()) return name->second;
        return field.enumeration->closed ? std::nullopt : std::optional<Value>(number);
      }
      case ProtoType::kString:
      case ProtoType::kBytes: {
        const std::string_view text = wire_.take_delimited(rest);
        if (field.utf8 && !is_utf8(text)) wire_.refuse(text.data(), "expected UTF-8 in field " + field.full_name);
        return text;
      }
      case ProtoType::kMessage:
      case ProtoType::kGroup: break;
    }
    throw InternalError("a message was read as a scalar");
  }

  Value unsigned_value(const ProtoField& field, const char* at, std::uint64_t number) const {
    if (number >> 63 != 0)
      wire_.refuse(at, fmt::format("expected at most 2^63 - 1 in field {}, not {}", field.full_name, number));
    return number;
  }

  void add_inner(Message& message, std::size_t place, std::string_view bytes) {
    Slot& slot = message.slots[place];
    if (!message.type->fields[place].repeated) {
      choose_member(message, place);
      slot.set = true;
      if (slot.inner != kNothing) return message.inner[slot.inner].parts.push_back(bytes);
      slot.inner = message.inner.size();
    }
    message.inner.push_back({place, {bytes}});
  }

  static void put(Message& message, std::size_t place, Value value) {
    Slot& slot = message.slots[place];
    if (message.type->fields[place].repeated) return slot.items.push_back(std::move(value));
    choose_member(message, place);
    slot.value = std::move(value);
    slot.set = true;
  }

  // Of a oneof only the member that is met last is set.
  static void choose_member(Message& message, std::size_t place) {
    const std::size_t oneof = message.type->fields[place].oneof;
    if (oneof == ProtoField::kNoOneof) return;
    const std::size_t before = std::exchange(message.members[oneof], place);
    if (before == kNothing || before == place) return;
    const Slot old = std::exchange(message.slots[before], {});
    if (old.inner != kNothing) message.inner[old.inner].dropped = true;
  }

  Value finish(Message& message) const {
    std::vector<Value::Entry> entries;
    entries.reserve(message.type->fields.size() + message.type->oneofs.size());
    for (std::size_t i = 0; i < message.type->fields.size(); ++i) {
      const ProtoField& field = message.type->fields[i];
      Slot& slot = message.slots[i];
      if (field.required && !slot.set && !message.dropped)
        wire_.refuse(message.end, "expected field " + field.full_name + ", which is required");
      Value& value = entries.emplace_back(Value::Entry{field.name, field.default_value}).value;
      if (field.repeated) {
        value = field.is_map ? map_of(slot.items) : Value::list(std::move(slot.items));
      } else if (slot.set) {
        value = std::move(slot.value);
      }
    }
    for (std::size_t i = 0; i < message.type->oneofs.size(); ++i) {
      const std::size_t member = message.members[i];
      entries.push_back(
          {message.type->oneofs[i], member == kNothing ? Value() : Value(message.type->fields[member].name)});
    }
    return Value::map(std::move(entries));
  }

  // From entries, which are messages with a key and a value; of equal keys the last counts.
  static Value map_of(const std::vector<Value>& items) {
    std::vector<Value::Entry> entries;
    std::unordered_map<std::string, std::size_t> places;
    for (const Value& item : items) {
      const Value& key = item.entries()[0].value;
      std::string text = key.is_string() ? std::string(key.as_string()) : key.to_text();
      const auto [place, added] = places.emplace(text, entries.size());
      if (added) entries.push_back({std::move(text), nullptr});
      entries[place->second].value = item.entries()[1].value;
    }
    return Value::map(std::move(entries));
  }

  ProtoWire wire_;
  std::vector<Message> open_;
};

}  // namespace

Value decode_proto(const ProtoMessage& type, std::string_view bytes, std::string_view source) {
  return Decoder(bytes, source).decode(type, bytes);
}

}  // namespace espalier::data
