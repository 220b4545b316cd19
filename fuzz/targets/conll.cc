/// Tagged words in columns, and the spans that tags mark.
#include "espalier/data/conll.h"

#include "fuzz/reader.h"

namespace espalier::fuzz {
namespace {

/// The tag as tags_of() writes it: "B-" is "B".
std::string written(const std::string& tag) { return tag.size() == 2 && tag[1] == '-' ? tag.substr(0, 1) : tag; }

void check_spans(const data::TaggedSentence& sentence, std::optional<data::TagScheme> scheme) {
  const auto words = static_cast<std::int32_t>(sentence.words.size());
  accepts([&] {
    const std::vector<data::TagSpan> spans = data::spans_of(sentence.tags);
    for (const data::TagScheme other :
         {data::TagScheme::kIob1, data::TagScheme::kBio, data::TagScheme::kBioes, data::TagScheme::kBmes}) {
      const std::vector<std::string> tags = data::tags_of(spans, words, other);
      check(!data::find_tag_error(tags, other), "written tags follow their scheme");
      check(data::spans_of(tags) == spans, "written tags mark the same spans");
      if (scheme == other)
        for (std::size_t w = 0; w < tags.size(); ++w)
          check(tags[w] == written(sentence.tags[w]), "tags of a scheme are the tags of their spans");
    }
  });
}

}  // namespace

void conll(std::string_view input) {
  using data::ConllOptions;
  using data::TagScheme;
  for (const ConllOptions& options :
       {ConllOptions{}, ConllOptions{.scheme = TagScheme::kIob1}, ConllOptions{.scheme = TagScheme::kBio},
        ConllOptions{.scheme = TagScheme::kBioes}, ConllOptions{.scheme = TagScheme::kBmes},
        ConllOptions{.separator = '\t', .comment = "#", .word_column = 1, .drop_places = true}})
    for (const data::TaggedSentence& sentence : read_text<data::ConllReader>(input, options)) {
      check(!sentence.words.empty() && sentence.words.size() == sentence.tags.size(), "every word has a tag");
      check_spans(sentence, options.scheme);
    }
}

}  // namespace espalier::fuzz
