// Descriptions of SICK: the table, and folders of parsed sentences.
#include <fmt/format.h>

#include <set>

#include "espalier/data/describe_parts.h"
#include "espalier/data/sick.h"

namespace espalier::data {
namespace {

std::string mean_text(double sum, std::int64_t count) {
  return count == 0 ? "none" : fmt::format("{:.2f}", sum / static_cast<double>(count));
}

void describe_sick_table(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  SickReader reader(path, options);
  Tally entailments;
  double sum = 0;
  for (SickPair one; reader.next(one);) {
    ++entailments[one.entailment];
    sum += one.relatedness;
  }
  const std::int64_t pairs = reader.report().records;
  result.report = reader.report();
  result.facts = {
      {"pairs", fmt::format("{}", pairs)}, {"mean relatedness", mean_text(sum, pairs)}, {"dependencies", "none"}};
  result.labels_of = "entailment";
  result.labels = sorted(entailments);
}

void describe_sick_folder(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  ParsedSickReader reader(path, options);
  Extent words;
  Tally relations;
  std::set<std::string, std::less<>> vocabulary;
  double sum = 0;
  for (ParsedPair one; reader.next(one); sum += one.relatedness)
    for (const ParsedSentence* sentence : {&one.a, &one.b}) {
      words.take(std::ssize(sentence->words));
      for (const std::string& relation : sentence->relations) ++relations[relation];
      vocabulary.insert(sentence->words.begin(), sentence->words.end());
    }
  const std::int64_t pairs = reader.report().records;
  result.report = reader.report();
  result.facts = {{"pairs", fmt::format("{}", pairs)},
                  {"mean relatedness", mean_text(sum, pairs)},
                  {"words per sentence", words.text()},
                  {"distinct words", fmt::format("{}", vocabulary.size())}};
  result.labels_of = "relations of dependencies";
  result.labels = sorted(relations);
}

}  // namespace

void describe_sick(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  if (result.format == DataFormat::kSickTable)
    describe_sick_table(path, options, result);
  else
    describe_sick_folder(path, options, result);
  result.model = "relatedness";
}

}  // namespace espalier::data
