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

#include <filesystem>
#include <string_view>

#include "espalier/base/export.h"
#include "espalier/data/value.h"
#include "espalier/data/value_stream.h"

namespace espalier::data {

/// The Value that the text is. `source` names the text in errors.
ESPALIER_EXPORT Value parse_json(std::string_view text, std::string_view source = "JSON");

/// The Value that a file is, plain or gzip. Refuses (ResourceError) a file that cannot be read.
ESPALIER_EXPORT Value read_json(const std::filesystem::path& path);

/// The Values of a file, plain or gzip, with one of them a line, each read when it is asked for. Blank lines are
/// skipped. Refuses (ResourceError) a file that cannot be read, at once, and a line that is wrong when it is reached.
ESPALIER_EXPORT ValueStream json_lines(const std::filesystem::path& path);

}  // namespace espalier::data
