/// What tests of readers do with texts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/input.h"
#include "espalier/data/record_reader.h"
#include "tests/support/refusal.h"

namespace espalier::data {

inline const std::string kSickHeader = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n";

/// All records of a text, which errors call "x".
template <class Reader, class... Options>
std::vector<typename Reader::Record> records_of(std::string text, const Options&... options) {
  Reader reader(Input::text(std::move(text), "x"), options...);
  return reader.read_all();
}

/// What the reader says of a text in which the first record is damaged.
template <class Reader, class... Options>
std::string refusal_of_text(const std::string& text, const Options&... options) {
  return testing::refusal_of([&] { records_of<Reader>(text, options...); });
}

/// Reads a text with skipping on, and tells what happened: "records/damaged".
template <class Reader, class Options>
std::string skip_counts(std::string text, const Options& options) {
  Reader reader(Input::text(std::move(text), "x"), options, ReadOptions{.skip_damaged = true});
  for (typename Reader::Record record; reader.next(record);) continue;
  return std::to_string(reader.report().records) + "/" + std::to_string(reader.report().damaged);
}

}  // namespace espalier::data
