/// Messages of protocol buffers in binary form, delimited in files, and as text.
#include "espalier/data/proto.h"

#include "fuzz/input.h"

namespace espalier::fuzz {
namespace {

constexpr std::string_view kProto3 = R"(
syntax = "proto3";
package fuzz;
enum Operation { NOTHING = 0; PLUS = 5; MINUS = -2; }
message Pair { Everything left = 1; Everything right = 2; }
message Everything {
  bool truth = 1; int32 i32 = 2; int64 i64 = 3; uint32 u32 = 4; uint64 u64 = 5; sint32 s32 = 6; sint64 s64 = 7;
  fixed32 f32 = 8; fixed64 f64 = 9; sfixed32 sf32 = 10; sfixed64 sf64 = 11; float single = 12; double number = 13;
  string text = 14; bytes raw = 15; Operation operation = 16; Pair pair = 17; optional int32 maybe = 18;
  repeated int32 numbers = 19; repeated string words = 20; repeated Pair pairs = 21; repeated Operation operations = 22;
  map<string, int32> counts = 23; map<int32, Pair> by_number = 24; map<bool, string> by_truth = 25;
  oneof kind { int64 whole = 26; Pair both = 27; string name = 1000; }
}
)";

constexpr std::string_view kProto2 = R"(
syntax = "proto2";
message Old {
  enum Colour { RED = 1; GREEN = 7; }
  required string name = 1;
  optional int32 size = 2 [default = 5];
  optional Colour colour = 3;
  repeated Colour colours = 4 [packed = true];
  optional group Part = 5 { optional int32 weight = 1; optional Old whole = 2; }
  optional Old next = 6;
}
)";

}  // namespace

void proto(std::string_view input) {
  static const data::ProtoReader everything(temporary_file("new.proto", kProto3), "fuzz.Everything");
  static const data::ProtoReader old(temporary_file("old.proto", kProto2), "Old");
  const MemoryFile file(input);
  for (const data::ProtoReader* reader : {&everything, &old}) {
    accepts([&] { reader->read(input).to_text(); });
    accepts([&] { reader->read_text(input).to_text(); });
    accepts([&] {
      data::ValueStream stream = reader->read_delimited(file.path());
      while (stream.next()) continue;
    });
  }
}

}  // namespace espalier::fuzz
