/// Values from protocol buffers: what each kind of field becomes, `.proto` files and their mistakes, wrong bytes,
/// depth.
#include "espalier/data/proto.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/data/text_file.h"
#include "tests/data/random_values.h"
#include "tests/data/temporary_file.h"
#include "tests/support/print_value.h"
#include "tests/support/refusal.h"
#include "tests/support/small_stack.h"

namespace espalier::data {
namespace {

using espalier::testing::refusal_of;

constexpr std::string_view kProto3 = R"(
syntax = "proto3";
package arithmetic;
enum Operation { NOTHING = 0; PLUS = 5; MINUS = -2; }
message Pair { Expression left = 1; Expression right = 2; }
message Expression {
  oneof kind {
    int64 number = 1;
    Pair pair = 3;
    string name = 1000;
  }
  Operation operation = 2;
}
message Everything {
  bool truth = 1; int32 i32 = 2; int64 i64 = 3; uint32 u32 = 4; uint64 u64 = 5; sint32 s32 = 6; sint64 s64 = 7;
  fixed32 f32 = 8; fixed64 f64 = 9; sfixed32 sf32 = 10; sfixed64 sf64 = 11; float single = 12; double number = 13;
  string text = 14; bytes raw = 15; Operation operation = 16; Pair pair = 17;
  optional int32 maybe = 18;
  repeated int32 numbers = 19; repeated string words = 20; repeated Pair pairs = 21; repeated Operation operations = 22;
  map<string, int32> counts = 23; map<int32, Pair> by_number = 24; map<bool, string> by_truth = 25;
}
)";

constexpr std::string_view kProto2 = R"(
syntax = "proto2";
message Old {
  enum Colour { RED = 1; GREEN = 7; }
  required string name = 1;
  optional int32 size = 2 [default = 5];
  optional Colour colour = 3;
  repeated Colour colours = 4;
  optional group Part = 5 { optional int32 weight = 1; optional Old whole = 2; }
  optional Old next = 6;
}
)";

class Proto : public ::testing::Test {
 protected:
  Value read(std::string_view message, std::string_view bytes) const {
    return ProtoReader(file_.path(), message).read(bytes);
  }
  Value read_text(std::string_view message, std::string_view text) const {
    return ProtoReader(file_.path(), message).read_text(text);
  }
  std::string refusal(std::string_view bytes) const {
    return refusal_of([&] { ProtoReader(file_.path(), "arithmetic.Everything").read(bytes, "x.bin"); });
  }

  TemporaryFile file_{"new.proto", kProto3};
  TemporaryFile old_{"old.proto", kProto2};
};

std::string bytes(std::initializer_list<int> list) {
  std::string bytes;
  for (const int byte : list) bytes += static_cast<char>(byte);
  return bytes;
}

std::string varint(std::size_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  return bytes + static_cast<char>(number);
}

/// The head of a field that holds `length` bytes. Its number is below 16.
std::string head(int number, std::size_t length) { return bytes({number * 8 + 2}) + varint(length); }

std::string delimited(int number, std::string_view inner) { return head(number, inner.size()).append(inner); }

TEST_F(Proto, AbsentFieldsAreDefaultsOrNull) {
  EXPECT_EQ(read("arithmetic.Everything", "").to_text(),
            R"({"truth":false,"i32":0,"i64":0,"u32":0,"u64":0,"s32":0,"s64":0,"f32":0,"f64":0,"sf32":0,"sf64":0,)"
            R"("single":0.0,"number":0.0,"text":"","raw":"","operation":"NOTHING","pair":null,"maybe":null,)"
            R"("numbers":[],"words":[],"pairs":[],"operations":[],"counts":{},"by_number":{},"by_truth":{}})");
}

TEST_F(Proto, EveryKindOfFieldBecomesItsValue) {
  const Value value = read_text("arithmetic.Everything", R"(
    truth: true i32: -1 i64: -9223372036854775808 u32: 4294967295 u64: 9223372036854775807 s32: -3 s64: -4
    f32: 4294967295 f64: 6 sf32: -7 sf64: -8 single: 0.5 number: 1e300 text: "h\303\251" raw: "\377\000"
    operation: PLUS maybe: 0 numbers: [1, -2] words: "a" words: "b" operations: [MINUS, NOTHING]
    counts { key: "x" value: 1 } counts { key: "y" value: 2 } counts { key: "x" value: 3 }
    by_truth { key: true value: "yes" } pairs { } pairs { left { number: 1 } }
    by_number { key: -5 value { } })");
  EXPECT_EQ(value.at("truth"), Value(true));
  EXPECT_EQ(value.at("i32"), Value(-1));
  EXPECT_EQ(value.at("i64"), Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(value.at("u32"), Value(4294967295));
  EXPECT_EQ(value.at("u64"), Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(value.at("s32"), Value(-3));
  EXPECT_EQ(value.at("s64"), Value(-4));
  EXPECT_EQ(value.at("f32"), Value(4294967295));
  EXPECT_EQ(value.at("f64"), Value(6));
  EXPECT_EQ(value.at("sf32"), Value(-7));
  EXPECT_EQ(value.at("sf64"), Value(-8));
  EXPECT_EQ(value.at("single"), Value(0.5));
  EXPECT_EQ(value.at("number"), Value(1e300));
  EXPECT_EQ(value.at("text"), Value("h\u00e9"));
  EXPECT_EQ(value.at("raw"), Value(std::string("\xff\0", 2)));
  EXPECT_EQ(value.at("operation"), Value("PLUS"));
  EXPECT_EQ(value.at("maybe"), Value(0));
  EXPECT_EQ(value.at("numbers"), Value::list({1, -2}));
  EXPECT_EQ(value.at("words"), Value::list({"a", "b"}));
  EXPECT_EQ(value.at("operations"), Value::list({"MINUS", "NOTHING"}));
  EXPECT_EQ(value.at("counts").at("x"), Value(3));
  EXPECT_EQ(value.at("by_truth"), Value::map({{"true", "yes"}}));
  EXPECT_EQ(value.at("by_number"), Value::map({{"-5", Value::map({{"left", nullptr}, {"right", nullptr}})}}));
  EXPECT_EQ(value.at("pairs")[1].at("left").at("number"), Value(1));
}

TEST_F(Proto, MessagesRecurseAndOneofsNameTheirMember) {
  EXPECT_EQ(
      read_text("arithmetic.Expression", "operation: PLUS pair { left { number: 1 } right { name: 'x' } }").to_text(),
      R"({"number":null,"pair":{"left":{"number":1,"pair":null,"name":null,"operation":"NOTHING","kind":"number"},)"
      R"("right":{"number":null,"pair":null,"name":"x","operation":"NOTHING","kind":"name"}},"name":null,)"
      R"("operation":"PLUS","kind":"pair"})");
  EXPECT_EQ(read("arithmetic.Expression", "").at("kind"), Value());
}

TEST_F(Proto, TheLastMemberOfAOneofCounts) {
  // number: 7, pair {}, number: 8
  const Value value = read("arithmetic.Expression", bytes({0x08, 7, 0x1a, 0, 0x08, 8}));
  EXPECT_EQ(value.at("kind"), Value("number"));
  EXPECT_EQ(value.at("number"), Value(8));
  EXPECT_EQ(value.at("pair"), Value());
}

TEST_F(Proto, AMessageThatIsThereTwiceIsMerged) {
  // pair { left { number: 1 } } pair { left { operation: PLUS } right { } }
  const std::string twice =
      delimited(3, delimited(1, bytes({0x08, 1}))) + delimited(3, delimited(1, bytes({0x10, 5})) + delimited(2, ""));
  const Value pair = read("arithmetic.Expression", twice).at("pair");
  EXPECT_EQ(pair.at("left").at("number"), Value(1));
  EXPECT_EQ(pair.at("left").at("operation"), Value("PLUS"));
  EXPECT_FALSE(pair.at("right").is_null());
}

TEST_F(Proto, RepeatedNumbersMayBePackedOrNot) {
  const std::string both = bytes({0x9a, 1, 2, 1, 2, 0x98, 1, 3, 0x9a, 1, 1, 4});
  EXPECT_EQ(read("arithmetic.Everything", both).at("numbers"), Value::list({1, 2, 3, 4}));
}

TEST_F(Proto, OpenEnumsKeepNumbersWithoutANameAndClosedOnesSkipThem) {
  EXPECT_EQ(read("arithmetic.Expression", bytes({0x10, 99})).at("operation"), Value(99));
  const ProtoReader reader(old_.path(), "Old");
  const Value old = reader.read(bytes({0x0a, 1, 'x', 0x18, 2, 0x20, 7, 0x20, 2, 0x20, 1}));
  EXPECT_EQ(old.at("colour"), Value());
  EXPECT_EQ(old.at("colours"), Value::list({"GREEN", "RED"}));
}

TEST_F(Proto, Proto2HasRequiredFieldsAndGroups) {
  const ProtoReader reader(old_.path(), "Old");
  EXPECT_EQ(reader.read_text("name: 'x' Part { weight: 3 whole { name: 'y' } }").to_text(),
            R"({"name":"x","size":null,"colour":null,"colours":[],"part":{"weight":3,"whole":{"name":"y","size":null,)"
            R"("colour":null,"colours":[],"part":null,"next":null}},"next":null})");
  EXPECT_EQ(refusal_of([&] {
              reader.read(bytes({0x0a, 1, 'x', 0x32, 0}), "x.bin");
            }),
            "x.bin: byte 5: expected field Old.name, which is required");
}

TEST_F(Proto, UnknownFieldsAreSkipped) {
  // A varint, 8 bytes, a string, a group in a group, 4 bytes; then a field of another wire type than declared.
  const std::string unknown = bytes({0xf8, 7, 1}) + bytes({0xf9, 7}) + std::string(8, 'x') + bytes({0xfa, 7, 1, 'y'}) +
                              bytes({0xfb, 7, 0xf3, 7, 0xf4, 7, 0xfc, 7}) + bytes({0xfd, 7}) + std::string(4, 'z') +
                              bytes({0x0a, 1, 'w'});
  EXPECT_EQ(read("arithmetic.Everything", unknown), read("arithmetic.Everything", ""));
}

TEST_F(Proto, WrongBytesAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal(bytes({0x10})), "x.bin: byte 1: expected a varint, but it is cut off");
  EXPECT_EQ(refusal(bytes({0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})),
            "x.bin: byte 1: expected a varint of at most 10 bytes");
  EXPECT_EQ(refusal(bytes({0x00, 1})),
            "x.bin: byte 0: expected a field number from 1 to 2^29 - 1 with a wire type from 0 to 5, not 0 with 0");
  EXPECT_EQ(refusal(bytes({0x08, 1, 0x0e})),
            "x.bin: byte 2: expected a field number from 1 to 2^29 - 1 with a wire type from 0 to 5, not 1 with 6");
  EXPECT_EQ(refusal(bytes({0x45, 1, 2})), "x.bin: byte 1: expected a number of 4 bytes, but 2 are left");
  EXPECT_EQ(refusal(bytes({0x72, 5, 'a', 'b'})), "x.bin: byte 2: expected 5 bytes of a field, but 2 are left");
  EXPECT_EQ(refusal(bytes({0x72, 1, 0xff})), "x.bin: byte 2: expected UTF-8 in field arithmetic.Everything.text");
  EXPECT_EQ(refusal(bytes({0x0c})), "x.bin: byte 1: expected a field, not the end of group 1, which did not begin");
  EXPECT_EQ(refusal(bytes({0xfb, 7, 0x0c})), "x.bin: byte 2: expected the end of group 127, not that of group 1");
  EXPECT_EQ(refusal(bytes({0xfb, 7})), "x.bin: byte 2: expected the end of group 127, but the message ends");
  EXPECT_EQ(refusal(bytes({0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})),
            "x.bin: byte 1: expected at most 2^63 - 1 in field arithmetic.Everything.u64, not 18446744073709551615");
}

TEST_F(Proto, WrongTextIsRefusedWithItsPlace) {
  EXPECT_EQ(
      refusal_of([&] { ProtoReader(file_.path(), "arithmetic.Pair").read_text("left {\n  numbr: 1 }", "x.txt"); }),
      "x.txt:2:8: Message type \"arithmetic.Expression\" has no field named \"numbr\".");
}

TEST_F(Proto, TextMayNestAThousandDeep) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "pair{left{";
    return text + std::string(static_cast<std::size_t>(2 * depth), '}');
  };
  const ProtoReader reader(file_.path(), "arithmetic.Expression");
  EXPECT_EQ(reader.read_text(nested(490)).at("kind"), Value("pair"));
  EXPECT_NE(refusal_of([&] { reader.read_text(nested(100000), "x.txt"); }).find("x.txt:1:"), std::string::npos);
}

TEST_F(Proto, AnyTextGivesAMessageOrAnErrorWithItsPlace) {
  Draw draw(7);
  const ProtoReader reader(file_.path(), "arithmetic.Everything");
  const std::string whole =
      "truth: true i32: -1 text: 'a\\n' operation: PLUS numbers: [1, 2] counts { key: 'x' value: 1 } pairs { left { } "
      "}";
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    try {
      reader.read_text(draw.mutated(whole), "x.txt");
    } catch (const DataError& error) {
      ++refused;
      ASSERT_TRUE(std::string_view(error.what()).starts_with("x.txt:")) << error.what();
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 3000);
}

TEST_F(Proto, AnyProtoFileGivesAReaderOrAnError) {
  Draw draw(8);
  int refused = 0;
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 500; ++i) {
    const TemporaryFile file("damaged.proto", draw.mutated(std::string(kProto3)));
    try {
      ProtoReader(file.path(), "arithmetic.Everything").read("");
    } catch (const Error& error) {
      ++refused;
      ASSERT_TRUE(std::string_view(error.what()).starts_with(file.name())) << error.what();
    }
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 500);
}

TEST_F(Proto, MistakesInProtoFilesAreAllNamed) {
  const TemporaryFile broken("broken.proto", "syntax = \"proto3\";\nmessage A {\n  B b = 1;\n  int32 b = 2;\n}\n");
  EXPECT_EQ(
      refusal_of([&] { ProtoReader(broken.path(), "A"); }),
      broken.name() + ":4:9: \"b\" is already defined in \"A\".\n" + broken.name() + ":3:3: \"B\" is not defined.");
  const TemporaryFile cut("cut.proto", "syntax = \"proto3\";\nmessage A {\n  int32 = 1;\n}\n");
  EXPECT_EQ(refusal_of([&] { ProtoReader(cut.path(), "A"); }), cut.name() + ":3:9: Expected field name.");
  EXPECT_EQ(refusal_of([] { ProtoReader("no/such.proto", "A"); }),
            "cannot read \"no/such.proto\": No such file or directory");
  EXPECT_EQ(refusal_of([&] { ProtoReader(file_.path(), "arithmetic.Tree"); }),
            file_.name() +
                " has no message \"arithmetic.Tree\"; it has \"arithmetic.Pair\", \"arithmetic.Expression\", "
                "\"arithmetic.Everything\"");
}

TEST_F(Proto, ImportsAreFoundBesideTheFileAndInTheFoldersGiven) {
  const std::string imported = file_.path().filename().string();
  const std::string source = "syntax = \"proto3\";\nimport \"" + imported +
                             "\";\nimport \"google/protobuf/timestamp.proto\";\n"
                             "message Timed { arithmetic.Pair pair = 1; google.protobuf.Timestamp time = 2; }\n";
  const TemporaryFile beside("timed.proto", source);
  EXPECT_EQ(ProtoReader(beside.path(), "Timed").read_text("time { seconds: 5 }").at("time").at("seconds"), Value(5));

  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "espalier_proto_imports";
  std::filesystem::create_directories(folder);
  const std::string own = (folder / "timed.proto").string();
  write_file_atomically(own, source);
  EXPECT_EQ(refusal_of([&] { ProtoReader(own, "Timed"); }), imported + ": File not found.\n" + own + ":2:1: Import \"" +
                                                                imported + "\" was not found or had errors.\n" + own +
                                                                ":4:17: \"arithmetic.Pair\" is not defined.");
  const ProtoReader reader(own, "Timed", {.include_folders = {file_.path().parent_path()}});
  EXPECT_EQ(reader.read("").at("pair"), Value());
  std::filesystem::remove_all(folder);
}

TEST_F(Proto, DelimitedMessagesAreAStream) {
  std::string content;
  for (const std::size_t number : {1U, 2U, 300U}) {
    const std::string message = bytes({0x08}) + varint(number);
    content += varint(message.size()) + message;
  }
  const TemporaryFile stream("messages.bin", content);
  std::optional<ProtoReader> reader(std::in_place, file_.path(), "arithmetic.Expression");
  ValueStream messages = reader->read_delimited(stream.path());
  reader.reset();  // the stream has what it needs
  std::vector<std::int64_t> numbers;
  for (const Value& message : messages) numbers.push_back(message.at("number").as_integer());
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 2, 300}));
}

TEST_F(Proto, DelimitedFilesThatAreCutOffAreRefused) {
  const ProtoReader reader(file_.path(), "arithmetic.Expression");
  const auto refused = [&](const std::string& content) {
    const TemporaryFile file("cut.bin", content);
    const std::string text = refusal_of([&] {
      for (const Value& message : reader.read_delimited(file.path())) EXPECT_TRUE(message.is_map());
    });
    return text.substr(std::min(file.name().size(), text.size()));
  };
  EXPECT_EQ(refused(bytes({2, 8, 1, 5, 8})), ": byte 3: expected a message of 5 bytes, but 1 are left");
  EXPECT_EQ(refused(bytes({2, 8, 1, 0x80})), ": byte 3: expected the length of a message, but it is cut off");
  EXPECT_EQ(refused(std::string(11, '\xff')),
            ": byte 0: expected the length of a message as a varint of at most 10 bytes");
  EXPECT_EQ(refused(bytes({2, 8, 1, 1, 8})), ": message at byte 3: byte 1: expected a varint, but it is cut off");
  EXPECT_EQ(refusal_of([&] { reader.read_delimited("no/such.bin"); }),
            "cannot read \"no/such.bin\": No such file or directory");
}

TEST_F(Proto, DepthIsLimitedByMemoryOnly) {
  testing::on_8_megabytes([&] {
    constexpr int kDepth = 100000;
    // Written from its end, so that each head is put before what is there.
    std::string backwards;
    for (int i = 0; i < kDepth; ++i) {
      const std::string outer = head(i % 2 == 0 ? 1 : 3, backwards.size());
      backwards.append(outer.rbegin(), outer.rend());
    }
    const Value value = read("arithmetic.Expression", std::string(backwards.rbegin(), backwards.rend()));
    int depth = 0;
    for (const Value* inner = &value; !inner->is_null(); inner = &inner->at(depth % 2 == 1 ? "pair" : "left")) ++depth;
    EXPECT_EQ(depth, kDepth + 1);
  });
}

}  // namespace
}  // namespace espalier::data
