/// Values from JSON (RFC 8259), by simdjson.
///
/// A number with a point or an exponent becomes a float, any other an integer. Nesting is limited by memory only.
///
/// Refuses (DataError, "source:line:column: expected ..., not ...") what is not JSON in UTF-8, an integer outside
/// -2^63 to 2^63 - 1, a number beyond the largest double, an object with a key that is there twice, and a text of more
/// than 4 GiB.
///
/// Thread safety: functions may be called from any thread; a ValueStream belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"
#include "espalier/data/value.h"
#include "espalier/data/value_stream.h"

namespace espalier::data {

class JsonParser;

/// The Value that the text is. `source` names the text in errors, which count its lines from `first_line`.
ESPALIER_EXPORT Value parse_json(std::string_view text, std::string_view source = "JSON", std::int64_t first_line = 1);

/// The Value that a whole input is. Refuses (ResourceError) a file that cannot be read.
ESPALIER_EXPORT Value read_json(Input input);

/// JSON lines: a Value a line. Blank lines are left out.
class ESPALIER_EXPORT JsonLinesReader final : public RecordReader<Value> {
 public:
  explicit JsonLinesReader(Input input, const ReadOptions& options = {});
  ~JsonLinesReader() override;

  /// Of the record read last: "train.jsonl:7".
  std::string place() const;

 private:
  bool read(Value& record) override;
  bool skip() override { return lines_.readable(); }

  LineReader lines_;
  std::unique_ptr<JsonParser> parser_;
};

/// The Values of a JsonLinesReader as a stream, each read when it is asked for.
ESPALIER_EXPORT ValueStream json_lines(Input input);

}  // namespace espalier::data
