/// Reads and writes ListOps files.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/listops.h"
#include "espalier/data/listops_stack.h"
#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The tokens of an expression whatever its brackets, commas and capitals are: `[MAX 2 9 ]`, `(MAX 2 9)`, `max(2, 9)`.
/// Nothing if a word is not a token.
std::optional<std::vector<std::int32_t>> tokens_in(std::string_view text) {
  const bool has_brackets = text.find(']') != std::string_view::npos;
  std::vector<std::int32_t> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(std::min(text.find_first_of(" ,()[]", at), text.size()) - at, 1);
    std::string word(text.substr(at, length));
    for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    at += length;
    if (word == "]" || (word == ")" && !has_brackets)) {
      tokens.push_back(kListOpsEnd);
    } else if (std::string_view(" ,()[").find(word) == std::string_view::npos) {
      auto found = std::find(kListOpsWords.begin(), kListOpsWords.end(), word);
      if (found == kListOpsWords.end()) found = std::find(kListOpsWords.begin(), kListOpsWords.end(), "[" + word);
      if (found == kListOpsWords.end()) return std::nullopt;
      tokens.push_back(static_cast<std::int32_t>(found - kListOpsWords.begin()));
    }
  }
  return tokens;
}

/// An expression as files have it, if it is complete but in another notation; else empty.
std::string in_notation_of_files(std::string_view text) {
  const bool is_tree = text.starts_with("( ") && text.find('[') != std::string_view::npos;
  const std::optional<std::vector<std::int32_t>> tokens = tokens_in(text);
  if (is_tree || !tokens || tokens->size() < 2) return {};
  try {
    return listops_text(listops_tree(*tokens));
  } catch (const UsageError&) {
    return {};
  }
}

/// For text that no tree in parentheses begins with, though it names an operator: a tree, as an example, and the
/// operators if it names another. Else empty.
std::string example_for(std::string_view text) {
  if (text.starts_with("( ") || std::none_of(text.begin(), text.end(), is_letter)) return {};
  std::string example = "( ( ( [MAX 2 ) 9 ) ] )";
  for (auto at = text.begin(); (at = std::find_if(at, text.end(), is_letter)) != text.end();) {
    const auto end = std::find_if_not(at, text.end(), is_letter);
    if (!tokens_in({&*at, static_cast<std::size_t>(end - at)}))
      return example + ", with the operators MIN, MAX, MED and SM";
    at = end;
  }
  return example;
}

}  // namespace

/// One pass over a line without recursion: each "(" opens a frame, each token or ")" gives a finished part to the
/// innermost one, and a part that cannot stand there is refused at its own column.
class ListOpsReader::Parser {
 public:
  explicit Parser(std::filesystem::path path) : reader_(std::move(path)) {}

  std::optional<Tree> next() {
    if (!reader_.next(line_)) return std::nullopt;
    frames_.clear();
    stack_.clear();
    builder_.clear();
    parse_label();
    try {
      parse_expression();
    } catch (const DataError&) {
      const std::string_view expression = line_.substr(2);
      if (const std::string known = in_notation_of_files(expression); !known.empty())
        refuse(2, fmt::format("expected the tree in parentheses, {}, not {}", known, quoted(expression)));
      if (const std::string example = example_for(expression); !example.empty())
        refuse(2, fmt::format("expected a tree in parentheses, such as {}, not {}", example, quoted(expression)));
      throw;
    }
    const std::int32_t label = line_[0] - '0';
    if (label != stack_.value())
      refuse(0, fmt::format("expected label {}, which is the value of the expression, not {}", stack_.value(), label));
    builder_.set_last_label(label);
    return builder_.finish();
  }

 private:
  // What a part of an expression is: an operator with the arguments so far, an argument, or "]".
  enum class Part { kList, kValue, kEnd };
  struct Frame {
    std::size_t begin;
    int parts;
    Part last;
  };

  [[noreturn]] void refuse(std::size_t at, std::string_view message) const { throw reader_.error_at(at + 1, message); }

  // The text at a place as a message names it.
  std::string seen(std::size_t at, std::size_t length) const {
    return at < line_.size() ? quoted(line_.substr(at, length)) : "the end of the line";
  }
  std::size_t token_length(std::size_t at) const { return std::min(line_.find(' ', at), line_.size()) - at; }

  void parse_label() const {
    if (line_.empty() || line_[0] < '0' || line_[0] > '9')
      refuse(0, fmt::format("expected a label 0 to 9, not {}", seen(0, line_.find('\t'))));
    if (line_.size() < 2 || line_[1] != '\t')
      refuse(1, fmt::format("expected a tab after the label, not {}", seen(1, line_.find('\t', 1) - 1)));
  }

  void parse_expression() {
    std::size_t at = 2;
    while (!parse_token(at)) {
      at += token_length(at);
      if (at == line_.size())
        refuse(at, fmt::format("expected ')' to close the node opened at column {}", frames_.back().begin + 1));
      ++at;  // the space
    }
    at += token_length(at);
    if (at < line_.size()) refuse(at, fmt::format("expected the end of the line, not {}", seen(at, std::string::npos)));
  }

  // True when the expression is complete.
  bool parse_token(std::size_t at) {
    const std::string_view word = line_.substr(at, token_length(at));
    if (word == "(") {
      if (!frames_.empty() && frames_.back().parts == 2) refuse_third(at);
      frames_.push_back({at, 0, Part::kList});
      return false;
    }
    if (word == ")") return close(at);
    const auto found = std::find(kListOpsWords.begin(), kListOpsWords.end(), word);
    if (found == kListOpsWords.end())
      refuse(at, fmt::format("expected an operator, a digit, ']' or a parenthesis, not {}",
                             seen(at, std::max(word.size(), std::size_t{1}))));
    const auto token = static_cast<std::int32_t>(found - kListOpsWords.begin());
    const Part part = token < kListOpsMin ? Part::kValue : token < kListOpsEnd ? Part::kList : Part::kEnd;
    const bool complete = place(part, at);
    stack_.push(token);
    builder_.leaf(token);
    return complete;
  }

  bool close(std::size_t at) {
    if (frames_.empty()) refuse(at, "expected an expression, not ')'");
    const Frame frame = frames_.back();
    if (frame.parts < 2)
      refuse(at,
             fmt::format("expected two parts in the node opened at column {}, not {}", frame.begin + 1, frame.parts));
    frames_.pop_back();
    builder_.node(2);
    return place(frame.last == Part::kEnd ? Part::kValue : Part::kList, frame.begin);
  }

  // Gives a finished part to the node around it; true if there is none and the expression is complete.
  bool place(Part part, std::size_t at) {
    if (frames_.empty()) {
      if (part != Part::kValue) refuse(at, fmt::format("expected a whole expression, not {}", describe(part, at)));
      return true;
    }
    Frame& frame = frames_.back();
    if (frame.parts == 2) refuse_third(at);
    if (frame.parts == 0 && part != Part::kList)
      refuse(at, fmt::format("expected an operator first in the node opened at column {}, not {}", frame.begin + 1,
                             describe(part, at)));
    if (frame.parts == 1 && part == Part::kList)
      refuse(at, fmt::format("expected an argument or ']', not {}", describe(part, at)));
    if (part == Part::kEnd && stack_.arguments() < 2)
      refuse(at, fmt::format("expected at least 2 arguments before ']', not {}", stack_.arguments()));
    ++frame.parts;
    frame.last = part;
    return false;
  }

  std::string describe(Part part, std::size_t at) const {
    if (line_[at] != '(') return seen(at, token_length(at));
    return part == Part::kList ? "a list without its ']'" : "a finished list";
  }

  [[noreturn]] void refuse_third(std::size_t at) const {
    refuse(at, fmt::format("expected ')' to close the node opened at column {}, not {}", frames_.back().begin + 1,
                           seen(at, token_length(at))));
  }

  LineReader reader_;
  std::string_view line_;
  std::vector<Frame> frames_;
  ListOpsStack stack_;
  TreeBuilder builder_;
};

ListOpsReader::ListOpsReader(std::filesystem::path path) : parser_(std::make_unique<Parser>(std::move(path))) {}
ListOpsReader::~ListOpsReader() = default;
std::optional<Tree> ListOpsReader::next() { return parser_->next(); }

std::vector<Tree> read_listops(const std::filesystem::path& path) {
  ListOpsReader reader(path);
  std::vector<Tree> trees;
  while (std::optional<Tree> tree = reader.next()) trees.push_back(std::move(*tree));
  if (trees.empty())
    throw DataError(fmt::format("{}: expected at least one expression, but the file is empty", path.string()));
  return trees;
}

void write_listops(const std::filesystem::path& path, std::span<const Tree> trees) {
  TextWriter writer(path);
  for (const Tree& tree : trees) writer.write(fmt::format("{}\t{}\n", tree.label(), listops_text(tree)));
  writer.commit();
}

}  // namespace espalier::data
