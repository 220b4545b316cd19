#include "espalier/models/tag_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/data/conllu.h"
#include "espalier/data/tag_scheme.h"
#include "espalier/data/utf8.h"
#include "espalier/train/accuracy.h"
#include "espalier/train/span_f1.h"

namespace espalier::models {
namespace {

const std::string& tag_of(const data::ConlluWord& word, std::string_view column) {
  if (column == "xpos") return word.xpos;
  return column == "deprel" ? word.deprel : word.upos;
}

std::vector<train::Span> train_spans(std::span<const std::string> tags) {
  std::vector<train::Span> spans;
  for (const data::TagSpan& span : data::spans_of(tags))
    spans.push_back({.type = span.type, .begin = span.begin, .end = span.end});
  return spans;
}

/// The tags of numbers; what is unknown has no span.
std::vector<std::string> named(std::span<const double> numbers, std::span<const std::string> names) {
  std::vector<std::string> tags;
  for (const double number : numbers)
    tags.push_back(number >= 0 ? names[static_cast<std::size_t>(number)] : std::string("O"));
  return tags;
}

}  // namespace

void TagColumns::list(SettingList& list) {
  list.add("format", format, "how sentences are written; auto: CoNLL-U if the name says so, else columns",
           {"auto", "conllu", "columns"});
  list.add("tag", tag, "the column of CoNLL-U to learn", {"upos", "xpos", "deprel"});
  list_columns(list);
}

void TagColumns::list_columns(SettingList& list) {
  list.add("comment", comment, "lines of columns that begin with this text are left out");
  list.add("drop_places", drop_places, "words are single characters followed by a place, in digits, which is dropped");
}

RecordSource<data::TaggedSentence> TagColumns::open(data::Input input, const data::ReadOptions& options) const {
  const bool is_conllu = format == "conllu" || (format == "auto" && input.name().find(".conllu") != std::string::npos);
  if (!is_conllu) {
    const data::ConllOptions columns{.comment = comment, .drop_places = drop_places};
    return source_of(std::make_shared<data::ConllReader>(std::move(input), columns, options));
  }
  const auto reader =
      std::make_shared<data::ConlluReader>(std::move(input), data::ConlluOptions{.require_tree = false}, options);
  return {[reader, column = tag](data::TaggedSentence& record) {
            data::ConlluSentence sentence;
            if (!reader->next(sentence)) return false;
            record = {};
            for (const data::ConlluWord& word : sentence.words) {
              record.words.push_back(word.form);
              record.tags.push_back(tag_of(word, column));
            }
            return true;
          },
          [reader]() -> const data::ReadReport& { return reader->report(); },
          [reader](const DataError& error) { reader->refuse(error); }};
}

data::TaggedSentence tagged_from_json(const Value& value, Tokens tokens) {
  data::TaggedSentence record;
  const Value* text = tokens == Tokens::kCharacters ? value.find("text") : nullptr;
  if (text != nullptr) {
    for (const std::string_view character : data::characters_of(text->as_string()))
      if (character.find_first_of(" \t\r\n") == std::string_view::npos) record.words.emplace_back(character);
  } else {
    for (const Value& word : value.at("words").items()) record.words.emplace_back(word.as_string());
  }
  if (record.words.empty()) throw UsageError(text != nullptr ? "\"text\" is empty" : "\"words\" is empty");
  if (const Value* tags = value.find("tags"))
    for (const Value& tag : tags->items()) record.tags.emplace_back(tag.as_string());
  if (!record.tags.empty() && record.tags.size() != record.words.size())
    throw UsageError(fmt::format("there are {} words and {} tags", record.words.size(), record.tags.size()));
  return record;
}

bool has_spans(std::span<const std::string> tags) {
  const auto of_span = [](const std::string& tag) {
    return tag == "O" ||
           (tag.size() > 2 && tag[1] == '-' && std::string_view("BIEMSLU").find(tag[0]) != std::string::npos);
  };
  return tags.size() > 1 && std::all_of(tags.begin(), tags.end(), of_span);
}

void read_tags(std::span<const std::int32_t> predicted, std::span<const std::int32_t> expected,
               train::Prediction& prediction) {
  for (std::size_t w = 0; w < expected.size(); ++w) {
    prediction.predicted.push_back(predicted[w]);
    prediction.expected.push_back(expected[w] < 0 ? std::numeric_limits<double>::quiet_NaN() : expected[w]);
  }
}

std::vector<train::Metric> measure_tags(std::span<const train::Prediction> predictions,
                                        std::span<const std::string> tags) {
  std::vector<double> expected;
  std::vector<double> predicted;
  train::SpanF1 spans;
  const bool in_spans = has_spans(tags);
  for (const train::Prediction& sentence : predictions) {
    expected.insert(expected.end(), sentence.expected.begin(), sentence.expected.end());
    predicted.insert(predicted.end(), sentence.predicted.begin(), sentence.predicted.end());
    if (in_spans) spans.add(train_spans(named(sentence.expected, tags)), train_spans(named(sentence.predicted, tags)));
  }
  std::vector<train::Metric> metrics;
  if (in_spans) {
    const train::SpanCounts all = spans.all();
    metrics = {{"f1", all.f1()}, {"precision", all.precision()}, {"recall", all.recall()}};
  }
  metrics.push_back({"accuracy", train::accuracy(expected, predicted)});
  return metrics;
}

Value tag_answer(std::span<const std::string> words, std::span<const std::int32_t> tags,
                 std::span<const std::string> names, Tokens tokens) {
  std::vector<Value> of_words;
  std::vector<Value> of_tags;
  std::vector<std::string> tag_names;
  for (std::size_t w = 0; w < words.size(); ++w) {
    tag_names.push_back(names[static_cast<std::size_t>(tags[w])]);
    of_words.emplace_back(words[w]);
    of_tags.emplace_back(tag_names.back());
  }
  std::vector<Value::Entry> answer{{"words", Value::list(of_words)}, {"tags", Value::list(of_tags)}};
  if (has_spans(names)) {
    std::vector<Value> spans;
    for (const data::TagSpan& span : data::spans_of(tag_names)) {
      const auto part =
          words.subspan(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
      spans.push_back(Value::map({{"begin", span.begin},
                                  {"end", span.end},
                                  {"type", span.type},
                                  {"text", fmt::format("{}", fmt::join(part, tokens == Tokens::kWords ? " " : ""))}}));
    }
    answer.push_back({"spans", Value::list(std::move(spans))});
  }
  return Value::map(std::move(answer));
}

std::vector<std::int32_t> tags_for_loss(std::span<const std::int32_t> tags) {
  std::vector<std::int32_t> known(tags.begin(), tags.end());
  for (std::int32_t& tag : known) tag = std::max(tag, 0);
  return known;
}

}  // namespace espalier::models
