#include <algorithm>
#include <cctype>

#include "espalier/data/csv.h"
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
  std::int64_t separators = 0;   // in the first line, between columns of a table
  std::int64_t rows = 0;         // with as many separators as the first line
  std::int64_t operators = 0;    // have the type of an operator of a plan
  bool begins_as_plan = false;   // as psql prints it
  bool begins_with_sick = false;
  bool begins_with_smiles = false;  // a header with a column of molecules
  bool has_atoms = false;           // the counts of a connection table, in the fourth line
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

/// Separators of a row that are not in quotes; 0 if its quotes do not end.
std::int64_t separators_in(std::string_view line, char separator) {
  std::int64_t count = 0;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    count += c == separator && !quoted ? 1 : 0;
  }
  return quoted ? 0 : count;
}

bool has_column(std::string_view header, char separator, std::string_view name) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  while (true) {
    const std::string_view field = header.substr(0, header.find(separator));
    if (std::equal(field.begin(), field.end(), name.begin(), name.end(), same)) return true;
    if (field.size() == header.size()) return false;
    header.remove_prefix(field.size() + 1);
  }
}

void look_at_columns(std::string_view line, char separator, Lines& lines) {
  if (lines.filled == 0) {
    lines.separators = separators_in(line, separator);
    lines.begins_with_smiles = has_column(line, separator, "smiles");
  }
  lines.rows += separators_in(line, separator) == lines.separators ? 1 : 0;
  const bool is_fourth = lines.filled + lines.blank == 3;
  lines.has_atoms = lines.has_atoms || (is_fourth && (line.ends_with("V2000") || line.ends_with("V3000")));
}

void look_at(std::string_view line, char separator, Lines& lines) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    ++lines.blank;
    return;
  }
  look_at_columns(line, separator, lines);
  const std::string_view text = line.substr(begin);
  if (lines.filled++ == 0) {
    lines.begins_with_sick = is_sick_header(text);
    lines.begins_as_plan = text[0] == '[' || text[0] == '{' || text.starts_with("QUERY PLAN");
  }
  lines.in_brackets += text[0] == '(' ? 1 : 0;
  lines.maps += text[0] == '{' ? 1 : 0;
  const bool has_plan = text.find("\"Plan\"") != std::string_view::npos;
  const bool has_operator = text.find("\"Node Type\"") != std::string_view::npos;
  lines.plans += has_plan && has_operator ? 1 : 0;
  lines.operators += has_operator ? 1 : 0;
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
  const char separator = table_options(path.string()).separator;
  while (lines.filled + lines.blank < kLookedAt && reader.next(line)) look_at(line, separator, lines);
  if (lines.filled > 0 && has_ending(path.string(), {".smi", ".smiles"})) return DataFormat::kSmiles;
  if (lines.has_atoms) return DataFormat::kSdf;
  if (lines.begins_with_smiles) return DataFormat::kMoleculeTable;
  if (lines.begins_with_sick) return DataFormat::kSickTable;
  const auto most = [&](std::int64_t count) { return count > 0 && 10 * count >= 9 * lines.filled; };
  if (most(lines.maps)) return lines.plans > 0 && most(lines.plans) ? DataFormat::kQueryPlans : DataFormat::kJsonLines;
  if (lines.begins_as_plan && lines.operators > 0) return DataFormat::kQueryPlans;
  if (most(lines.listops)) return DataFormat::kListOps;
  if (lines.conllu > 0 && most(lines.conllu + lines.comments)) return DataFormat::kConllu;
  // A tree may go over several lines, which begin with words or brackets after spaces.
  if (lines.in_brackets > 0 && 2 * lines.in_brackets >= lines.filled) return DataFormat::kTreebank;
  // One sentence without a blank line after it is a table of words just as well: a few lines are needed to tell.
  if (lines.blank > 0 && most(lines.columns)) return DataFormat::kTagged;
  if (lines.separators > 0 && lines.rows > 1 && most(lines.rows)) return DataFormat::kTable;
  return DataFormat::kUnknown;
}

}  // namespace espalier::data
