/// JSON: one text, and lines of it.
#include "espalier/data/json.h"

#include "fuzz/reader.h"

namespace espalier::fuzz {

void json(std::string_view input) {
  check_round_trip(
      input, [](std::string_view text) { return data::parse_json(text); },
      [](const Value& value) { return value.to_text(); });
  for (const Value& value : read_text<data::JsonLinesReader>(input))
    check(data::parse_json(value.to_text()) == value, "a record is the same once it was written");
}

}  // namespace espalier::fuzz
