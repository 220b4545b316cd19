/// S-expressions of both forms, one and many.
#include "espalier/data/sexpr.h"

#include "fuzz/input.h"

namespace espalier::fuzz {

void sexpr(std::string_view input) {
  check_round_trip(
      input, [](std::string_view text) { return data::parse_sexpr(text); }, data::sexpr_text);
  const MemoryFile file(input);
  for (const data::SexprForm form : {data::SexprForm::kLisp, data::SexprForm::kTrees}) {
    std::vector<Value> values;
    const bool whole = accepts([&] {
      for (const Value& value : data::parse_sexprs(std::string(input), form)) values.push_back(value);
    });
    if (input.starts_with("\x1f\x8b")) continue;  // gzip, if it is a file
    std::size_t count = 0;
    const bool whole_file = accepts([&] {
      for (const Value& value : data::read_sexprs(file.path(), form)) check(value == values.at(count++), "same values");
    });
    check(whole == whole_file && count == values.size(), "a file is read as a text is");
  }
}

}  // namespace espalier::fuzz
