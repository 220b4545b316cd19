#include "bench/data/conllu.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "espalier/data/text_file.h"

namespace espalier::bench {
namespace {

constexpr std::size_t kColumns = 10;
enum Column : std::size_t { kId = 0, kForm = 1, kTag = 3, kHead = 6, kRelation = 7 };

struct Line {
  std::array<std::string_view, kColumns> columns;
  std::array<std::size_t, kColumns> begins{};
};

Line split(const data::LineReader& reader, std::string_view line) {
  Line result;
  std::size_t begin = 0;
  for (std::size_t c = 0; c < kColumns; ++c) {
    const std::size_t tab = line.find('\t', begin);
    if ((tab == std::string_view::npos) != (c + 1 == kColumns))
      throw reader.error_at(begin + 1, "expected ten columns with tabs between them");
    result.columns[c] = line.substr(begin, tab - begin);
    result.begins[c] = begin;
    begin = tab + 1;
  }
  return result;
}

std::int32_t number_in(const data::LineReader& reader, const Line& line, Column column) {
  const std::string_view text = line.columns[column];
  std::int32_t number = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 0)
    throw reader.error_at(line.begins[column] + 1, fmt::format("expected a number, found {}", data::quoted(text)));
  return number;
}

/// Every word reaches the root: no word is its own ancestor.
void require_tree(const data::LineReader& reader, const std::vector<ConlluWord>& sentence) {
  std::vector<std::int32_t> seen_from(sentence.size(), -1);
  std::int32_t roots = 0;
  for (std::size_t start = 0; start < sentence.size(); ++start) {
    if (sentence[start].head == 0) ++roots;
    const auto mark = static_cast<std::int32_t>(start);
    for (std::size_t at = start; seen_from[at] < 0; at = static_cast<std::size_t>(sentence[at].head) - 1) {
      seen_from[at] = mark;
      if (sentence[at].head == 0) break;
      const auto head = static_cast<std::size_t>(sentence[at].head) - 1;
      if (head >= sentence.size())
        throw reader.error_at(
            1, fmt::format("the sentence before has {} words, but a head is word {}", sentence.size(), head + 1));
      if (seen_from[head] == mark) throw reader.error_at(1, "the sentence before has a word that is its own ancestor");
    }
  }
  if (roots != 1) throw reader.error_at(1, fmt::format("expected one root in the sentence before, found {}", roots));
}

}  // namespace

void read_conllu(const std::filesystem::path& path, const std::function<void(const std::vector<ConlluWord>&)>& take) {
  data::LineReader reader(path);
  std::vector<ConlluWord> sentence;
  const auto finish = [&] {
    if (sentence.empty()) return;
    require_tree(reader, sentence);
    take(sentence);
    sentence.clear();
  };
  for (std::string_view text; reader.next(text);) {
    if (text.empty()) {
      finish();
      continue;
    }
    if (text.front() == '#') continue;
    const Line line = split(reader, text);
    if (line.columns[kId].find_first_of("-.") != std::string_view::npos) continue;
    if (number_in(reader, line, kId) != static_cast<std::int32_t>(sentence.size()) + 1)
      throw reader.error_at(1, fmt::format("expected word number {}", sentence.size() + 1));
    sentence.push_back({.form = std::string(line.columns[kForm]),
                        .tag = std::string(line.columns[kTag]),
                        .head = number_in(reader, line, kHead),
                        .relation = std::string(line.columns[kRelation])});
  }
  finish();
}

}  // namespace espalier::bench
