/// Exported ONNX files: the input as a file, and as the description of a schedule, which is JSON in its metadata.
#include <array>
#include <string>

#include "espalier/data/json.h"
#include "espalier/onnx/onnx.h"
#include "espalier/onnx/read_file.h"
#include "espalier/onnx/schedule.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

void onnx(std::string_view input) {
  accepts([&] { espalier::onnx::parse(input, "fuzz.onnx"); });
  const std::filesystem::path path = temporary_file("fuzz.onnx", input);
  accepts([&] {
    const espalier::onnx::Weaver weaver(path);
    check(!accepts([&] { weaver.check({}); }), "a schedule without inputs is refused");
  });
  accepts([&] {
    const auto format = espalier::onnx::Format::from_value(data::parse_json(input));
    const std::string text = format.to_value().to_text();
    check(espalier::onnx::Format::from_value(data::parse_json(text)).to_value().to_text() == text,
          "a description that was written reads back the same");
    check(!accepts([&] { espalier::onnx::check_feeds(format, {}); }), "a schedule without inputs is refused");
  });
}

}  // namespace espalier::fuzz
