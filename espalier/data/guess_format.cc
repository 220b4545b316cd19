#include <algorithm>
#include <cctype>

#include "espalier/data/describe.h"
#include "espalier/data/line_reader.h"

namespace espalier::data {
namespace {

constexpr std::int64_t kLookedAt = 200;

/// What the first lines are like.
struct Lines {
  std::int64_t filled = 0;
  std::int64_t blank = 0;
  std::int64_t in_brackets = 0;  // begin with "("
  std::int64_t maps = 0;         // begin with "{"
  std::int64_t plans = 0;        // of these: hold a plan
  std::int64_t listops = 0;      // a digit, a tab, an expression
  std::int64_t conllu = 0;       // ten columns after a number
  std::int64_t comments = 0;     // begin with "#"
  std::int64_t columns = 0;      // two or more words
  bool begins_with_sick = false;
};

bool is_listops(std::string_view line) {
  if (line.size() < 3 || std::isdigit(static_cast<unsigned char>(line[0])) == 0 || line[1] != '\t') return false;
  const std::string_view expression = line.substr(2);
  return expression.starts_with("( ") ||
         (expression.size() == 1 && std::isdigit(static_cast<unsigned char>(expression[0])) != 0);
}

bool is_conllu(std::string_view line) {
  return std::isdigit(static_cast<unsigned char>(line[0])) != 0 && std::count(line.begin(), line.end(), '\t') == 9;
}

bool has_columns(std::string_view line) {
  const std::size_t end = line.find_first_of(" \t");
  return end != std::string_view::npos && line.find_first_not_of(" \t", end) != std::string_view::npos;
}

bool is_sick_header(std::string_view line) {
  const auto has = [&](std::string_view name) { return line.find(name) != std::string_view::npos; };
  return has("\t") && has("pair_ID") && has("sentence_A") && has("sentence_B") && has("relatedness_score");
}

void look_at(std::string_view line, Lines& lines) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    ++lines.blank;
    return;
  }
  const std::string_view text = line.substr(begin);
  if (lines.filled++ == 0) lines.begins_with_sick = is_sick_header(text);
  lines.in_brackets += text[0] == '(' ? 1 : 0;
  lines.maps += text[0] == '{' ? 1 : 0;
  const bool has_plan = text.find("\"Plan\"") != std::string_view::npos;
  lines.plans += has_plan && text.find("\"Node Type\"") != std::string_view::npos ? 1 : 0;
  lines.listops += is_listops(text) ? 1 : 0;
  lines.comments += text[0] == '#' ? 1 : 0;
  lines.conllu += is_conllu(text) ? 1 : 0;
  lines.columns += has_columns(text) ? 1 : 0;
}

}  // namespace

DataFormat guess_format(const std::filesystem::path& path) {
  if (Input(path).is_folder() && std::filesystem::exists(path / "a.toks")) return DataFormat::kSickFolder;
  LineReader reader(path);
  Lines lines;
  std::string_view line;
  while (lines.filled + lines.blank < kLookedAt && reader.next(line)) look_at(line, lines);
  if (lines.begins_with_sick) return DataFormat::kSickTable;
  const auto most = [&](std::int64_t count) { return count > 0 && 10 * count >= 9 * lines.filled; };
  if (most(lines.maps)) return lines.plans > 0 && most(lines.plans) ? DataFormat::kQueryPlans : DataFormat::kJsonLines;
  if (most(lines.listops)) return DataFormat::kListOps;
  if (lines.conllu > 0 && most(lines.conllu + lines.comments)) return DataFormat::kConllu;
  // A tree may go over several lines, which begin with words or brackets after spaces.
  if (lines.in_brackets > 0 && 2 * lines.in_brackets >= lines.filled) return DataFormat::kTreebank;
  // One sentence without a blank line after it is a table of words just as well: a few lines are needed to tell.
  if (lines.blank > 0 && most(lines.columns)) return DataFormat::kTagged;
  return DataFormat::kUnknown;
}

}  // namespace espalier::data
