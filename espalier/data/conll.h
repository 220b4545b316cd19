/// Tagged sentences in columns: a word a line, an empty line after each sentence.
///
///     EU B-ORG
///     rejects O
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"
#include "espalier/data/tag_scheme.h"

namespace espalier::data {

struct TaggedSentence {
  std::vector<std::string> words;
  std::vector<std::string> tags;  // as many

  bool operator==(const TaggedSentence&) const = default;
};

struct ConllOptions {
  /// Between columns: ' ' is any number of spaces and tabs; any other character stands once.
  char separator = ' ';
  /// Lines that begin with this text are left out, if it is not empty. Beware of "#" where tweets are tagged.
  std::string comment{};
  /// Columns from 0; from the last one, -1, if negative.
  std::int32_t word_column = 0;
  std::int32_t tag_column = -1;
  /// Refuse a sentence whose tags this scheme does not allow. Without it tags are any text, and spans_of() reads them
  /// as the field does.
  std::optional<TagScheme> scheme{};
  /// Words are characters followed by their place in a word, in digits, as in Weibo NER; those digits are dropped.
  bool drop_places = false;
};

/// Refuses lines with another number of columns than the first one has, and empty words and tags. A sentence that
/// begins with "-DOCSTART-" (CoNLL-2003) is the mark between documents, and left out.
class ESPALIER_EXPORT ConllReader final : public RecordReader<TaggedSentence> {
 public:
  explicit ConllReader(Input input, const ConllOptions& columns = {}, const ReadOptions& options = {});

 private:
  struct Place {
    std::int64_t line;
    std::size_t column;
  };

  bool read(TaggedSentence& record) override;
  bool skip() override;
  bool read_sentence(TaggedSentence& record);
  void read_line(TaggedSentence& record, std::string_view line);
  void split(std::string_view line);
  std::string_view column(std::string_view line, std::int32_t number, std::string_view name) const;
  std::string_view without_place(std::string_view line, std::string_view word) const;

  LineReader lines_;
  ConllOptions options_;
  std::vector<std::string_view> columns_;  // of the line read last
  std::size_t column_count_ = 0;           // 0 until a line was read
  std::vector<Place> tag_places_;
  bool in_sentence_ = false;  // whether the line read last belongs to one
};

}  // namespace espalier::data
