/// Values from protocol buffers, by a `.proto` file that is read at run time: nothing is generated or compiled.
///
///     const data::ProtoReader reader("tree.proto", "treebank.Tree");
///     const Value tree = reader.read(bytes);
///     tree.at("left").at("word").as_string();
///
/// A message becomes a map with all its fields, in the order of their declaration:
///
/// | field | becomes |
/// |---|---|
/// | any integer, bool, float, string | the Value of that kind; bytes become a string |
/// | enum | the name as a string; the number, where the type is open (proto3) and has no name for it |
/// | message, group | a map |
/// | repeated | a list |
/// | map | a map, with the keys as text; of a key that is there twice, the last counts |
/// | absent, without presence (proto3's scalars) | the default of its type |
/// | absent, with presence (`optional`, messages, members of a oneof) | null |
/// | oneof | besides its members an entry with its own name: the name of the member that is set, or null |
///
/// Unknown fields, extensions, and values that a closed enum (proto2) has no name for, are skipped.
///
/// The bytes are read here and not by protobuf itself, which recurses over messages and therefore limits how deep they
/// nest; so depth is limited by memory only, and no bytes can exhaust the stack. The text format is read by protobuf,
/// and may nest 1,000 deep. Groups (proto2) are looked through once for each group around them.
///
/// Thread safety: a const ProtoReader may be used by any number of threads; a ValueStream belongs to one at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/value.h"
#include "espalier/data/value_stream.h"

namespace espalier::data {

struct ProtoOptions {
  /// Where imports are looked for, in this order; without any, the folder of the file. The files that come with
  /// protobuf (google/protobuf/timestamp.proto and the like) are always found.
  std::vector<std::filesystem::path> include_folders = {};
};

class ESPALIER_EXPORT ProtoReader {
 public:
  /// Reads the `.proto` file and what it imports. `message` is the full name, with its package.
  ///
  /// Refuses a file that cannot be read (ResourceError), a wrong one (DataError, one line "file:line:column: ..." a
  /// mistake, in protobuf's words), and a message that is not in it (UsageError).
  ProtoReader(const std::filesystem::path& proto_file, std::string_view message, const ProtoOptions& options = {});

  /// A message in its binary form. `source` names it in errors.
  ///
  /// Refuses (DataError, "source: byte N: expected ...", counted from 0) what is not such a message: a field that is
  /// cut off or of another type, a required one that is absent, a string of proto3 that is not UTF-8; and unsigned
  /// integers above 2^63 - 1.
  Value read(std::string_view bytes, std::string_view source = "message") const;

  /// A message in protobuf's text format. Refuses (DataError, "source:line:column: ...", in protobuf's words) what is
  /// wrong.
  Value read_text(std::string_view text, std::string_view source = "message") const;

  /// The messages of a file, plain or gzip, each after its length as a varint, and each read when it is asked for.
  /// Refuses (ResourceError) a file that cannot be read. The stream may outlive the reader.
  ValueStream read_delimited(const std::filesystem::path& path) const;

 private:
  class Types;
  std::shared_ptr<const Types> types_;
};

}  // namespace espalier::data
