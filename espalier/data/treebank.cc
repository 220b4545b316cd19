#include "espalier/data/treebank.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

// Puts a text into a place of a row of strings, and uses the memory of one that was there.
void set_text(std::vector<std::string>& row, std::size_t place, std::string_view text) {
  if (place < row.size()) {
    row[place] = text;
  } else {
    row.emplace_back(text);
  }
}

bool ends_tree_atom(char c) { return c == ' ' || c == '(' || c == ')' || c == '\t' || c == '\r'; }

std::size_t tree_atom_end(std::string_view line, std::size_t at) {
  while (at < line.size() && !ends_tree_atom(line[at])) ++at;
  return at;
}

/// The label as a number, else kNone.
std::int32_t label_number(std::string_view label) {
  constexpr std::size_t kMostDigits = 9;
  if (label.empty() || label.size() > kMostDigits) return kNone;
  std::int32_t number = 0;
  for (const char c : label) {
    if (c < '0' || c > '9') return kNone;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

TreebankReader::TreebankReader(Input input, const TreebankOptions& tree, const ReadOptions& options)
    : RecordReader(options), lines_(std::move(input)), tree_(tree) {}

bool TreebankReader::read(LabelledTree& record) {
  open_.clear();
  labels_.clear();
  builder_.clear();
  words_ = 0;
  for (std::string_view line; lines_.next(line);) {
    if (!open_.empty() && line.starts_with('(')) {
      lines_.put_back({std::string(line)});
      refuse_open();
    }
    read_line(record, line);
    if (builder_.waiting() == 0 || !open_.empty()) continue;
    record.words.resize(words_);
    record.tree = builder_.finish();
    record.labels.resize(static_cast<std::size_t>(record.tree.size()));
    return true;
  }
  if (!open_.empty()) refuse_open();
  return false;
}

bool TreebankReader::skip() {
  return lines_.skip_to([](std::string_view line) { return line.starts_with('('); });
}

void TreebankReader::read_line(LabelledTree& record, std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
      continue;
    }
    const bool complete = open_.empty() && builder_.waiting() > 0;
    if (complete) throw lines_.error_at(at + 1, "expected the line to end after its tree");
    if (c == '(') {
      open(line, at);
    } else if (open_.empty()) {
      throw lines_.error_at(at + 1, fmt::format("expected '(' to begin a tree, not {}", quoted(line.substr(at, 1))));
    } else if (c == ')') {
      close(record, at++);
    } else {
      read_word(record, line, at);
    }
    end_line_ = lines_.line_number();
    end_column_ = line.size() + 1;
  }
}

void TreebankReader::open(std::string_view line, std::size_t& at) {
  if (!open_.empty()) {
    const Open& parent = open_.back();
    if (parent.word) throw lines_.error_at(at + 1, "expected ')' after the word of a node, not '('");
    if (tree_.binary && parent.children == 2)
      throw lines_.error_at(at + 1, "expected ')' after the two children of a node, not '('");
  }
  const std::size_t begin = at + 1;
  const std::size_t end = tree_atom_end(line, begin);
  const std::string_view label = line.substr(begin, end - begin);
  if (const std::int32_t number = tree_.labels > 0 ? label_number(label) : 0;
      tree_.labels > 0 && (number == kNone || number >= tree_.labels))
    throw lines_.error_at(
        begin + 1, fmt::format("expected a label from 0 to {} after '(', not {}", tree_.labels - 1, quoted(label)));
  open_.push_back({lines_.line_number(), at + 1, labels_.size(), 0, false});
  labels_ += label;
  at = end;
}

void TreebankReader::read_word(LabelledTree& record, std::string_view line, std::size_t& at) {
  Open& node = open_.back();
  const std::size_t end = tree_atom_end(line, at);
  const std::string_view word = line.substr(at, end - at);
  if (node.word) throw lines_.error_at(at + 1, fmt::format("expected ')' after the word, not {}", quoted(word)));
  if (node.children > 0) throw lines_.error_at(at + 1, fmt::format("expected ')' or '(', not {}", quoted(word)));
  node.word = true;
  set_text(record.words, words_++, word);
  at = end;
}

void TreebankReader::close(LabelledTree& record, std::size_t at) {
  const Open node = open_.back();
  if (!node.word && (node.children == 0 || (tree_.binary && node.children == 1)))
    throw lines_.error_at(
        at + 1, fmt::format("expected a word or {} before ')'", tree_.binary ? "two children" : "at least one child"));
  const std::string_view label = std::string_view(labels_).substr(node.label);
  if (node.word) {
    builder_.leaf(static_cast<std::int32_t>(words_) - 1, label_number(label));
  } else {
    builder_.node(node.children, label_number(label));
  }
  set_text(record.labels, static_cast<std::size_t>(builder_.size()) - 1, label);
  labels_.resize(node.label);
  open_.pop_back();
  if (!open_.empty()) ++open_.back().children;
}

void TreebankReader::refuse_open() const {
  throw lines_.error_at(
      end_line_, end_column_,
      fmt::format("expected ')' to close the node opened at {}:{}", open_.back().line, open_.back().column));
}

}  // namespace espalier::data
