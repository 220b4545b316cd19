#include "espalier/data/tag_scheme.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

/// A tag in its parts; letter 0 if it has none.
struct TagParts {
  char letter;
  std::string_view type;
};

TagParts parts_of(std::string_view tag, std::string_view letters) {
  if (tag.empty() || letters.find(tag[0]) == std::string_view::npos) return {'\0', {}};
  if (tag.size() == 1) return {tag[0], {}};
  if (tag[0] == 'O' || tag[1] != '-') return {'\0', {}};
  return {tag[0], tag.substr(2)};
}

std::string_view letters_of(TagScheme scheme) {
  switch (scheme) {
    case TagScheme::kIob1:
    case TagScheme::kBio: return "OBI";
    case TagScheme::kBioes: return "OBIES";
    case TagScheme::kBmes: return "OBMES";
  }
  throw InternalError("a tag scheme that is none");
}

bool has_ends(TagScheme scheme) { return scheme == TagScheme::kBioes || scheme == TagScheme::kBmes; }

bool goes_on(char letter) { return letter == 'I' || letter == 'M' || letter == 'E'; }

std::string seen_before(const TagParts& before) {
  if (before.letter == 'O') return "O";
  return before.type.empty() ? std::string(1, before.letter) : fmt::format("{}-{}", before.letter, before.type);
}

std::string tag_text(char letter, std::string_view type) {
  return type.empty() ? std::string(1, letter) : fmt::format("{}-{}", letter, type);
}

/// What the scheme has against `tag` after `before`; empty for nothing.
std::string against(const TagParts& tag, const TagParts& before, TagScheme scheme) {
  const bool same = before.letter != 'O' && before.type == tag.type;
  if (scheme == TagScheme::kIob1) {
    if (tag.letter != 'B' || same) return {};
    return fmt::format("expected {} to begin a span that follows none of its type, not {}", tag_text('I', tag.type),
                       tag_text('B', tag.type));
  }
  const bool open = before.letter == 'B' || before.letter == 'I' || before.letter == 'M';
  if (goes_on(tag.letter)) {
    if (open && same) return {};
    return fmt::format("expected {} only inside a span of its type, not after {}", tag_text(tag.letter, tag.type),
                       seen_before(before));
  }
  if (has_ends(scheme) && open)
    return fmt::format("expected {} to end the span, not {}", tag_text('E', before.type),
                       tag_text(tag.letter, tag.type));
  return {};
}

}  // namespace

std::vector<TagSpan> spans_of(std::span<const std::string> tags) {
  std::vector<TagSpan> spans;
  bool open = false;  // the last span may go on
  for (std::size_t w = 0; w < tags.size(); ++w) {
    const TagParts tag = parts_of(tags[w], "OBIMES");
    const auto place = static_cast<std::int32_t>(w);
    if (tag.letter == '\0')
      throw DataError(fmt::format("tag {}: expected O, or B, I, M, E or S and a type as in \"B-PER\", not {}", w + 1,
                                  data::quoted(tags[w])));
    if (tag.letter == 'O') {
      open = false;
      continue;
    }
    if (!open || !goes_on(tag.letter) || spans.back().type != tag.type)
      spans.push_back({place, place, std::string(tag.type)});
    spans.back().end = place + 1;
    open = tag.letter != 'E' && tag.letter != 'S';
  }
  return spans;
}

std::vector<std::string> tags_of(std::span<const TagSpan> spans, std::int32_t words, TagScheme scheme) {
  std::vector<std::string> tags(static_cast<std::size_t>(words), "O");
  const TagSpan* before = nullptr;
  for (const TagSpan& span : spans) {
    const std::int32_t first = before == nullptr ? 0 : before->end;
    if (span.begin < first || span.end <= span.begin || span.end > words)
      throw UsageError(
          fmt::format("tags: a span from word {} to {} is not between {} and {}", span.begin, span.end, first, words));
    const bool follows = before != nullptr && before->end == span.begin && before->type == span.type;
    const char inside = scheme == TagScheme::kBmes ? 'M' : 'I';
    for (std::int32_t w = span.begin; w < span.end; ++w) {
      char letter = inside;
      if (w == span.begin) letter = scheme == TagScheme::kIob1 && !follows ? 'I' : 'B';
      if (has_ends(scheme) && w + 1 == span.end) letter = w == span.begin ? 'S' : 'E';
      tags[static_cast<std::size_t>(w)] = tag_text(letter, span.type);
    }
    before = &span;
  }
  return tags;
}

std::optional<TagError> find_tag_error(std::span<const std::string> tags, TagScheme scheme) {
  TagParts before{'O', {}};
  for (std::size_t w = 0; w < tags.size(); ++w) {
    const TagParts tag = parts_of(tags[w], letters_of(scheme));
    if (tag.letter == '\0')
      return TagError{w, fmt::format("expected a tag of the scheme {} such as \"B-PER\" or \"O\", not {}",
                                     name_of(scheme), data::quoted(tags[w]))};
    if (std::string message = against(tag, before, scheme); !message.empty()) return TagError{w, std::move(message)};
    before = tag;
  }
  if (has_ends(scheme) && (before.letter == 'B' || before.letter == 'I' || before.letter == 'M'))
    return TagError{tags.size() - 1, fmt::format("expected {} to end the span at the end of the sentence, not {}",
                                                 tag_text('E', before.type), data::quoted(tags.back()))};
  return std::nullopt;
}

std::string_view name_of(TagScheme scheme) {
  switch (scheme) {
    case TagScheme::kIob1: return "IOB1";
    case TagScheme::kBio: return "BIO";
    case TagScheme::kBioes: return "BIOES";
    case TagScheme::kBmes: return "BMES";
  }
  throw InternalError("a tag scheme that is none");
}

}  // namespace espalier::data
