/// Tags of words and the spans they mark: named entities and chunks as B-PER I-PER O.
///
/// A tag is "O", or a letter with, after "-", the type of the span: "B-PER". A letter alone has the empty type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::data {

enum class TagScheme {
  kIob1,   // I in a span; B only for a span that directly follows one of its type (CoNLL-2003)
  kBio,    // B begins a span, I goes on; also called IOB2
  kBioes,  // B begins, I goes on, E ends; S is a span of one word; also called IOBES
  kBmes,   // the same with M for I
};

/// Words begin to end - 1 of a sentence.
struct TagSpan {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::string type;

  bool operator==(const TagSpan&) const = default;
  auto operator<=>(const TagSpan&) const = default;
};

/// The spans of the tags, from left to right. All schemes read the same way, and damaged sequences as the scorer of
/// CoNLL (conlleval; Tjong Kim Sang and Buchholz, 2000) reads them: a span begins at B and S, after E and S, and where
/// the type changes or no span is open, whatever the letter. Refuses (DataError) a tag without such a letter.
ESPALIER_EXPORT std::vector<TagSpan> spans_of(std::span<const std::string> tags);

/// The tags of `words` words, which have these spans. Refuses (UsageError) spans that are empty, overlap, are not from
/// left to right, or go beyond the words.
ESPALIER_EXPORT std::vector<std::string> tags_of(std::span<const TagSpan> spans, std::int32_t words, TagScheme scheme);

/// What is wrong with a tag.
struct TagError {
  std::size_t word;  // from 0
  std::string message;
};

/// The first tag that the scheme does not allow where it stands; nothing if there is none.
ESPALIER_EXPORT std::optional<TagError> find_tag_error(std::span<const std::string> tags, TagScheme scheme);

/// "IOB1", "BIO", "BIOES", "BMES".
ESPALIER_EXPORT std::string_view name_of(TagScheme scheme);

}  // namespace espalier::data
