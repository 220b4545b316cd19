#include "espalier/data/sick.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "espalier/data/dependency.h"
#include "espalier/data/number_text.h"
#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

constexpr double kLeastRelated = 1;
constexpr double kMostRelated = 5;

enum SickFile : std::size_t {
  kTokensOfA,
  kParentsOfA,
  kRelationsOfA,
  kTokensOfB,
  kParentsOfB,
  kRelationsOfB,
  kSim,
  kIds
};
static_assert(kParentsOfB == kTokensOfB + 1 && kRelationsOfB == kTokensOfB + 2);

std::optional<double> relatedness_in(std::string_view text) {
  const std::optional<double> score = number_in<double>(text);
  if (!score || *score < kLeastRelated || *score > kMostRelated) return std::nullopt;
  return score;
}

std::string relatedness_refusal(std::string_view found) {
  return fmt::format("expected a relatedness from 1 to 5, not {}", data::quoted(found));
}

/// The words between single spaces.
std::vector<std::string_view> words_in(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::size_t column_of(std::string_view word, std::string_view line) {
  return static_cast<std::size_t>(word.data() - line.data()) + 1;
}

}  // namespace

SickReader::SickReader(Input input, const ReadOptions& options)
    : RecordReader(options),
      rows_(std::move(input), tsv_options()),
      id_(rows_.column("pair_ID")),
      a_(rows_.column("sentence_A")),
      b_(rows_.column("sentence_B")),
      relatedness_(rows_.column("relatedness_score")) {
  const auto& names = rows_.names();
  const bool label = std::find(names.begin(), names.end(), "entailment_label") != names.end();
  entailment_ = rows_.column(label ? "entailment_label" : "entailment_judgment");
}

bool SickReader::read(SickPair& record) {
  if (!rows_.next(row_)) return false;
  for (const std::size_t field : {id_, a_, b_, entailment_})
    if (row_[field].empty())
      throw rows_.error_at(field, fmt::format("expected text in the column {}", rows_.names()[field]));
  const std::optional<double> relatedness = relatedness_in(row_[relatedness_]);
  if (!relatedness) throw rows_.error_at(relatedness_, relatedness_refusal(row_[relatedness_]));
  record = {row_[id_], row_[a_], row_[b_], *relatedness, row_[entailment_]};
  return true;
}

bool SickReader::skip() { return rows_.readable(); }

ParsedSickReader::ParsedSickReader(const std::filesystem::path& folder, const ReadOptions& options)
    : ParsedSickReader(
          std::array<Input, kFiles>{folder / "a.toks", folder / "a.parents", folder / "a.rels", folder / "b.toks",
                                    folder / "b.parents", folder / "b.rels", folder / "sim.txt", folder / "id.txt"},
          options) {}

ParsedSickReader::ParsedSickReader(const std::array<Input, kFiles>& inputs, const ReadOptions& options)
    : RecordReader(options), files_{LineReader(inputs[0]), LineReader(inputs[1]), LineReader(inputs[2]),
                                    LineReader(inputs[3]), LineReader(inputs[4]), LineReader(inputs[5]),
                                    LineReader(inputs[6]), LineReader(inputs[7])} {}

// One line of each file, also where the line of one of them is refused: the files must stay in step.
bool ParsedSickReader::next_lines() {
  std::exception_ptr refusal;
  std::size_t ended = 0;
  std::size_t ended_first = kFiles;
  for (std::size_t f = 0; f < kFiles; ++f) try {
      std::string_view line;
      const bool more = files_[f].next(line);
      lines_[f] = line;
      if (more) continue;
      ++ended;
      ended_first = std::min(ended_first, f);
    } catch (const DataError&) {
      if (!refusal) refusal = std::current_exception();
    }
  if (ended > 0 && ended < kFiles) {
    of_one_length_ = false;
    const LineReader& file = files_[ended_first];
    throw file.error_at(file.line_number() + 1, 1, "expected as many lines as the other files of the folder have");
  }
  if (refusal) std::rethrow_exception(refusal);
  return ended == 0;
}

bool ParsedSickReader::read(ParsedPair& record) {
  if (!next_lines()) return false;
  read_sentence(record.a, kTokensOfA);
  read_sentence(record.b, kTokensOfB);
  record.relatedness = read_score();
  record.id = lines_[kIds];
  return true;
}

bool ParsedSickReader::skip() {
  return of_one_length_ && std::all_of(files_.begin(), files_.end(), [](const LineReader& f) { return f.readable(); });
}

double ParsedSickReader::read_score() const {
  const std::optional<double> score = relatedness_in(lines_[kSim]);
  if (!score) throw files_[kSim].error_at(1, relatedness_refusal(lines_[kSim]));
  return *score;
}

void ParsedSickReader::read_sentence(ParsedSentence& sentence, std::size_t first_file) const {
  const auto words_of = [&](std::size_t file) { return words_in(lines_[first_file + file]); };
  const std::vector<std::string_view> tokens = words_of(0);
  const std::vector<std::string_view> parents = words_of(1);
  const std::vector<std::string_view> relations = words_of(2);
  if (tokens.empty()) throw files_[first_file].error_at(1, "expected at least one token");
  const auto expect_as_many = [&](std::size_t file, std::size_t count, std::string_view what) {
    if (count != tokens.size())
      throw files_[first_file + file].error_at(
          lines_[first_file + file].size() + 1,
          fmt::format("expected {} {}, one per token, not {}", tokens.size(), what, count));
  };
  expect_as_many(1, parents.size(), "parents");
  expect_as_many(2, relations.size(), "relations");
  sentence.words.assign(tokens.begin(), tokens.end());
  sentence.relations.assign(relations.begin(), relations.end());
  sentence.heads.clear();
  const auto refuse_parent = [&](std::size_t word, std::string_view message) {
    throw files_[first_file + 1].error_at(column_of(parents[word], lines_[first_file + 1]), message);
  };
  for (std::size_t w = 0; w < parents.size(); ++w) {
    const std::optional<std::int32_t> head = number_in<std::int32_t>(parents[w]);
    if (!head) refuse_parent(w, fmt::format("expected the number of a token or 0, not {}", data::quoted(parents[w])));
    sentence.heads.push_back(*head);
  }
  if (const std::optional<HeadError> error = find_head_error(sentence.heads))
    refuse_parent(error->word, error->message);
}

}  // namespace espalier::data
