/// What the targets check of every reader of records.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/data/input.h"
#include "espalier/data/record_reader.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

/// Reads an input twice, stopping at a damaged record and skipping those, and checks that both agree: on the records
/// before the first damaged one, and on whether there is one. `make` gets ReadOptions and returns the reader. Returns
/// the records of the second pass.
template <class Make>
auto read_both_ways(const Make& make) {
  using Record = typename std::invoke_result_t<Make, data::ReadOptions>::Record;
  const auto read = [&](bool skip_damaged, std::vector<Record>& records) {
    return accepts([&] {
      auto reader = make(data::ReadOptions{.skip_damaged = skip_damaged});
      for (Record record; reader.next(record);) records.push_back(record);
      check(reader.report().records == static_cast<std::int64_t>(records.size()), "the report counts the records");
      check(skip_damaged || reader.report().damaged == 0, "nothing is skipped unless asked for");
      Record after_end;
      check(!reader.next(after_end), "after the end there are no records");
    });
  };
  std::vector<Record> strict;
  std::vector<Record> lenient;
  const bool whole = read(false, strict);
  const bool readable = read(true, lenient);
  check(strict.size() <= lenient.size(), "skipping reads no fewer records");
  check(!whole || (readable && strict.size() == lenient.size()), "skipping changes nothing where nothing is damaged");
  if constexpr (std::equality_comparable<Record>)
    for (std::size_t i = 0; i < strict.size(); ++i)
      check(strict[i] == lenient[i], "records before the first damaged one are read the same");
  return lenient;
}

/// The same for a reader that takes an input and some options, over a text in memory.
template <class Reader, class... Options>
auto read_text(std::string_view text, const Options&... options) {
  return read_both_ways([&](const data::ReadOptions& read) {
    return Reader(data::Input::text(std::string(text), "input"), options..., read);
  });
}

}  // namespace espalier::fuzz
