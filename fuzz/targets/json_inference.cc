/// The schema that is inferred from JSON records: lines of the input.
#include "espalier/models/json_inference.h"

#include "espalier/data/json.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

void json_inference(std::string_view input) {
  using models::JsonSchema;
  std::vector<Value> records;
  accepts([&] {
    data::JsonLinesReader reader(data::Input::text(std::string(input)), {.skip_damaged = true});
    records = reader.read_all();
  });
  const auto place = [](std::size_t i) { return "record " + std::to_string(i); };
  for (const char* task : {"auto", "classification", "regression"})
    accepts([&] {
      const JsonSchema schema(records, {.label = "y", .ignore = {"i*"}, .task = task}, place);
      schema.describe();
      const Value value = schema.to_value();
      const JsonSchema again = JsonSchema::from_value(data::parse_json(value.to_text()));
      check(again.to_value().to_text() == value.to_text(), "a schema that was written reads back the same");
      for (const Value& record : records)
        for (const bool labelled : {false, true}) {
          const models::JsonInstance instance = schema.encode(record, labelled, "record");
          check(instance.nodes.size() == again.encode(record, labelled, "record").nodes.size(), "same instances");
          schema.label_of(record);
        }
    });
}

}  // namespace espalier::fuzz
