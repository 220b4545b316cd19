/// Bytes of messages, whole and damaged: our reader and protobuf's own agree on which are messages, and on what they
/// say.
#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "espalier/base/error.h"
#include "espalier/data/proto.h"
#include "tests/data/random_values.h"
#include "tests/data/temporary_file.h"
#include "tests/support/print_value.h"

namespace espalier::data {
namespace {

namespace pb = google::protobuf;

// Every kind of field in one message that contains itself in every way.
constexpr std::string_view kFields = R"(
enum Kind { ZERO = 0; FIVE = 5; BELOW = -2; ALSO_FIVE = 5; option allow_alias = true; }
message Node {
  PRESENCE bool truth = 1; PRESENCE int32 i32 = 2; PRESENCE int64 i64 = 3; PRESENCE uint32 u32 = 4;
  PRESENCE uint64 u64 = 5; PRESENCE sint32 s32 = 6; PRESENCE sint64 s64 = 7; PRESENCE fixed32 f32 = 8;
  PRESENCE fixed64 f64 = 9; PRESENCE sfixed32 sf32 = 10; PRESENCE sfixed64 sf64 = 11; PRESENCE float single = 12;
  PRESENCE double number = 13; PRESENCE string text = 14; PRESENCE bytes raw = 15; PRESENCE Kind kind = 16;
  optional Node node = 17; repeated Node nodes = 18;
  oneof choice { int32 left = 19; Node middle = 20; Node right = 21; string word = 22; }
  repeated sint32 numbers = 23; repeated double doubles = 24; repeated string words = 25; repeated Kind kinds = 26;
  map<string, int32> counts = 27; map<sint64, Node> children = 28; map<bool, bytes> flags = 29;
  EXTRA
}
)";

std::string proto_text(bool proto3) {
  std::string text(kFields);
  const auto replace = [&](std::string_view word, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) text.replace(at, word.size(), by);
  };
  replace("PRESENCE", proto3 ? "" : "optional");
  replace("EXTRA", proto3 ? "optional float maybe = 30;"
                          : "optional group Part = 31 { optional Node inside = 1; optional int32 size = 2; }\n"
                            "message Strict { required int32 needed = 1; } optional Strict strict = 32;");
  return (proto3 ? "syntax = \"proto3\";\n" : "syntax = \"proto2\";\n") + text;
}

Value oracle(const pb::Message& message);

Value oracle_scalar(const pb::Message& message, const pb::FieldDescriptor& field, int i) {
  const pb::Reflection& reflection = *message.GetReflection();
  const bool many = field.is_repeated();
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return many ? reflection.GetRepeatedBool(message, &field, i) : reflection.GetBool(message, &field);
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return many ? reflection.GetRepeatedInt32(message, &field, i) : reflection.GetInt32(message, &field);
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return many ? reflection.GetRepeatedInt64(message, &field, i) : reflection.GetInt64(message, &field);
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return many ? reflection.GetRepeatedUInt32(message, &field, i) : reflection.GetUInt32(message, &field);
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return many ? reflection.GetRepeatedUInt64(message, &field, i) : reflection.GetUInt64(message, &field);
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return many ? reflection.GetRepeatedFloat(message, &field, i) : reflection.GetFloat(message, &field);
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return many ? reflection.GetRepeatedDouble(message, &field, i) : reflection.GetDouble(message, &field);
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return many ? reflection.GetRepeatedString(message, &field, i) : reflection.GetString(message, &field);
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      const int number =
          many ? reflection.GetRepeatedEnumValue(message, &field, i) : reflection.GetEnumValue(message, &field);
      const pb::EnumValueDescriptor* value = field.enum_type()->FindValueByNumber(number);
      return value != nullptr ? Value(value->name()) : Value(number);
    }
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return oracle(many ? reflection.GetRepeatedMessage(message, &field, i) : reflection.GetMessage(message, &field));
  }
  return nullptr;
}

Value oracle_map(const pb::Message& message, const pb::FieldDescriptor& field) {
  std::vector<Value::Entry> entries;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
    const pb::Message& entry = message.GetReflection()->GetRepeatedMessage(message, &field, i);
    const Value key = oracle_scalar(entry, *field.message_type()->map_key(), 0);
    std::string text = key.is_string() ? std::string(key.as_string()) : key.to_text();
    // Not yet made to a map, protobuf keeps every entry: the last of a key counts.
    std::erase_if(entries, [&](const Value::Entry& other) { return other.key == text; });
    entries.push_back({std::move(text), oracle_scalar(entry, *field.message_type()->map_value(), 0)});
  }
  return Value::map(std::move(entries));
}

/// By protobuf's reflection; recursive, which is why the library does it another way.
Value oracle(const pb::Message& message) {
  const pb::Descriptor& type = *message.GetDescriptor();
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<Value::Entry> entries;
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    Value value;
    if (field.is_map()) {
      value = oracle_map(message, field);
    } else if (field.is_repeated()) {
      std::vector<Value> items;
      for (int j = 0; j < reflection.FieldSize(message, &field); ++j) items.push_back(oracle_scalar(message, field, j));
      value = Value::list(std::move(items));
    } else if (!field.has_presence() || reflection.HasField(message, &field)) {
      value = oracle_scalar(message, field, 0);
    }
    entries.push_back({field.name(), std::move(value)});
  }
  for (int i = 0; i < type.real_oneof_decl_count(); ++i) {
    const pb::FieldDescriptor* member = reflection.GetOneofFieldDescriptor(message, type.oneof_decl(i));
    entries.push_back({type.oneof_decl(i)->name(), member != nullptr ? Value(member->name()) : Value()});
  }
  return Value::map(std::move(entries));
}

/// Sets a field to something, or adds something to it.
void fill(Draw& draw, pb::Message& message, const pb::FieldDescriptor& field, int depth);

void fill(Draw& draw, pb::Message& message, int depth) {
  const pb::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    const bool inner = field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field.is_required() && (inner ? depth == 0 || !draw.chance(4) : !draw.chance(3))) continue;
    for (std::size_t times = field.is_repeated() ? 1 + draw.below(3) : 1; times > 0; --times)
      fill(draw, message, field, depth);
  }
}

void fill(Draw& draw, pb::Message& message, const pb::FieldDescriptor& field, int depth) {
  const pb::Reflection& reflection = *message.GetReflection();
  const bool many = field.is_repeated();
  const auto set = [&](auto setter, auto adder, auto value) {
    many ? (reflection.*adder)(&message, &field, value) : (reflection.*setter)(&message, &field, value);
  };
  using R = pb::Reflection;
  const std::int64_t integer = draw.integer();
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_BOOL: return set(&R::SetBool, &R::AddBool, draw.chance(2));
    case pb::FieldDescriptor::CPPTYPE_INT32: return set(&R::SetInt32, &R::AddInt32, static_cast<std::int32_t>(integer));
    case pb::FieldDescriptor::CPPTYPE_INT64: return set(&R::SetInt64, &R::AddInt64, integer);
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return set(&R::SetUInt32, &R::AddUInt32, static_cast<std::uint32_t>(integer));
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return set(&R::SetUInt64, &R::AddUInt64, static_cast<std::uint64_t>(integer) >> 1);
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return set(&R::SetFloat, &R::AddFloat, static_cast<float>(draw.below(1000)) / 8);
    case pb::FieldDescriptor::CPPTYPE_DOUBLE: return set(&R::SetDouble, &R::AddDouble, draw.number());
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return set(&R::SetEnumValue, &R::AddEnumValue, std::array{0, 5, -2}[draw.below(3)]);
    case pb::FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = draw.text();
      return many ? reflection.AddString(&message, &field, text) : reflection.SetString(&message, &field, text);
    }
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return fill(draw, many ? *reflection.AddMessage(&message, &field) : *reflection.MutableMessage(&message, &field),
                  depth - 1);
  }
}

class NoMistakes final : public pb::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& name, int line, int /*column*/, const std::string& message) override {
    ADD_FAILURE() << name << ":" << line << ": " << message;
  }
};

/// A `.proto` file read by both.
class Both {
 public:
  explicit Both(bool proto3) : file_("node.proto", proto_text(proto3)), reader_(file_.path(), "Node") {
    tree_.MapPath("", file_.path().parent_path().string());
    type_ = importer_.Import(file_.path().filename().string())->FindMessageTypeByName("Node");
  }

  std::unique_ptr<pb::Message> message() { return std::unique_ptr<pb::Message>(factory_.GetPrototype(type_)->New()); }
  const ProtoReader& reader() const { return reader_; }

 private:
  TemporaryFile file_;
  ProtoReader reader_;
  pb::compiler::DiskSourceTree tree_;
  NoMistakes mistakes_;
  pb::compiler::Importer importer_{&tree_, &mistakes_};
  pb::DynamicMessageFactory factory_;
  const pb::Descriptor* type_ = nullptr;
};

// By text, too, since NaN equals nothing.
void expect_same(const Value& ours, const Value& theirs) {
  EXPECT_TRUE(ours == theirs || ours.to_text() == theirs.to_text()) << ours.to_text() << "\n" << theirs.to_text();
}

class ProtoOracle : public ::testing::TestWithParam<bool> {};

TEST_P(ProtoOracle, AgreesOnWhatMessagesSay) {
  Both both(GetParam());
  Draw draw(5);
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    const std::unique_ptr<pb::Message> message = both.message();
    fill(draw, *message, 3);
    expect_same(both.reader().read(message->SerializeAsString()), oracle(*message));
  }
}

TEST_P(ProtoOracle, AgreesOnDamagedMessages) {
  const pb::LogSilencer silent;
  Both both(GetParam());
  Draw draw(6);
  int refused = 0;
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    std::string bytes = draw.bytes(40);
    if (!draw.chance(5)) {
      const std::unique_ptr<pb::Message> whole = both.message();
      fill(draw, *whole, static_cast<int>(draw.below(3)));
      bytes = draw.mutated(whole->SerializeAsString());
    }
    const std::unique_ptr<pb::Message> message = both.message();
    const bool theirs = message->ParsePartialFromString(bytes) && message->IsInitialized();
    try {
      const Value ours = both.reader().read(bytes, "x.bin");
      EXPECT_TRUE(theirs) << ::testing::PrintToString(bytes);
      if (theirs) expect_same(ours, oracle(*message));
    } catch (const DataError& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with("x.bin: byte ")) << text;
      // Ours alone: integers that a Value does not hold, and numbers of fields whose highest bits protobuf drops.
      const bool ours_alone = text.find("expected at most 2^63 - 1") != std::string::npos ||
                              text.find("expected a field number") != std::string::npos;
      EXPECT_TRUE(ours_alone || !theirs) << text << " in " << ::testing::PrintToString(bytes);
      ++refused;
    }
  }
  EXPECT_GT(refused, 3000);
  EXPECT_LT(refused, 19000);
}

INSTANTIATE_TEST_SUITE_P(Syntax, ProtoOracle, ::testing::Values(false, true),
                         [](const auto& syntax) { return syntax.param ? "Proto3" : "Proto2"; });

}  // namespace
}  // namespace espalier::data
