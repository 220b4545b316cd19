/// Tagged sentences as the models that tag read them, measure them and answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/data/conll.h"
#include "espalier/data/value.h"
#include "espalier/models/instances.h"
#include "espalier/models/model_of.h"
#include "espalier/models/settings.h"

namespace espalier::models {

/// Kinds of tokens that are tagged.
enum class Tokens { kWords, kCharacters };

/// How tagged sentences are written in files.
struct TagColumns {
  std::string format = "auto";
  std::string tag = "upos";  // of CoNLL-U
  std::string comment{};     // of columns
  bool drop_places = false;

  void list(SettingList& list);
  /// Only the settings of columns.
  void list_columns(SettingList& list);
  /// "auto": CoNLL-U, if the name has ".conllu" in it; else columns.
  RecordSource<data::TaggedSentence> open(data::Input input, const data::ReadOptions& options) const;
};

/// Reads {"words": ["It", "works"], "tags": ["PRON", "VERB"]}; the tags are optional. If tokens are characters,
/// {"text": "..."} will do, too; white space is left out.
data::TaggedSentence tagged_from_json(const Value& value, Tokens tokens = Tokens::kWords);

/// Whether all tags are those of spans: O, or a letter with, after "-", a type.
bool has_spans(std::span<const std::string> tags);

/// Per word the number of its tag; NaN where the right one is not among the known tags.
void read_tags(std::span<const std::int32_t> predicted, std::span<const std::int32_t> expected,
               train::Prediction& prediction);
/// Accuracy, and before it the F1 of spans, if tags mark spans.
std::vector<train::Metric> measure_tags(std::span<const train::Prediction> predictions,
                                        std::span<const std::string> tags);

/// {"words": [...], "tags": [...], and, if tags mark spans, "spans": [{"begin", "end", "type", "text"}]}, with spaces
/// in a text if tokens are words.
Value tag_answer(std::span<const std::string> words, std::span<const std::int32_t> tags,
                 std::span<const std::string> names, Tokens tokens = Tokens::kWords);

/// Tags for a loss: an unknown one, which a loss cannot take, counts as the first.
std::vector<std::int32_t> tags_for_loss(std::span<const std::int32_t> tags);

}  // namespace espalier::models
