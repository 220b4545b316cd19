/// JSON lines as records, with the place of each.
#pragma once

#include <string>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"
#include "espalier/data/value.h"

namespace espalier::models {

struct JsonLine {
  Value value;
  std::string place;  // "train.jsonl:7"
};

/// Blank lines are skipped. Refuses what data::parse_json() refuses, with the line.
class ESPALIER_EXPORT JsonLinesReader final : public data::RecordReader<JsonLine> {
 public:
  explicit JsonLinesReader(data::Input input, const data::ReadOptions& options = {});

 private:
  bool read(JsonLine& record) override;
  bool skip() override { return lines_.readable(); }

  data::LineReader lines_;
};

}  // namespace espalier::models
