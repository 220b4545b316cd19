/// A schema as model.json has it, in the first line of the input, and records that it encodes in the others.
#include "espalier/models/json_schema.h"

#include "espalier/data/json.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

void json_schema(std::string_view input) {
  const std::vector<std::string_view> lines = lines_of(input);
  if (lines.empty()) return;
  accepts([&] {
    const models::JsonSchema schema = models::JsonSchema::from_value(data::parse_json(lines[0]));
    schema.describe();
    schema.number_of(0.5);
    for (const std::string_view line : lines)
      accepts([&] {
        const Value record = data::parse_json(line);
        if (record.is_map()) schema.label_of(record);
        const models::JsonInstance instance = schema.encode(record, false, "record");
        for (const models::JsonInstance::Node& node : instance.nodes)
          check(node.begin <= node.end && node.type >= 0 && node.type < std::ssize(schema.types()),
                "nodes fit the schema");
      });
  });
}

}  // namespace espalier::fuzz
