#include "espalier/data/tree.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "espalier/base/error.h"

namespace espalier::data {
namespace {

std::string_view word_of(std::span<const std::string_view> words, std::int32_t node, std::int32_t token) {
  if (token < 0 || static_cast<std::size_t>(token) >= words.size())
    throw UsageError(fmt::format("tree: token {} of node {} has no word ({} words given)", token, node, words.size()));
  return words[static_cast<std::size_t>(token)];
}

}  // namespace

std::string Tree::to_string(std::span<const std::string_view> words) const {
  std::string text;
  // A node, or ")" (-1): what is still to be written, the next one last.
  constexpr std::int32_t kClose = -1;
  std::vector<std::int32_t> pending;
  if (size() > 0) pending.push_back(root());
  while (!pending.empty()) {
    const std::int32_t node = pending.back();
    pending.pop_back();
    if (!text.empty()) text += ' ';
    if (node == kClose) {
      text += ')';
    } else if (is_leaf(node)) {
      text += word_of(words, node, token(node));
    } else {
      text += '(';
      if (token(node) != kNone) (text += ' ') += word_of(words, node, token(node));
      pending.push_back(kClose);
      const std::span<const std::int32_t> below = children(node);
      pending.insert(pending.end(), below.rbegin(), below.rend());
    }
  }
  return text;
}

void TreeBuilder::append(std::int32_t token, std::int32_t label) {
  if (tree_.size() == std::numeric_limits<std::int32_t>::max())
    throw UsageError(fmt::format("tree: {} nodes are the most that a tree can have", tree_.size()));
  tree_.tokens_.push_back(token);
  tree_.labels_.push_back(label);
  tree_.child_ends_.push_back(static_cast<std::int32_t>(tree_.children_.size()));
  waiting_.push_back(tree_.root());
}

void TreeBuilder::leaf(std::int32_t token, std::int32_t label) {
  append(token, label);
  ++tree_.leaf_count_;
}

void TreeBuilder::node(std::int32_t children, std::int32_t label, std::int32_t token) {
  if (children < 1 || children > waiting())
    throw UsageError(
        fmt::format("tree: a node of {} children asked for, {} subtrees are waiting", children, waiting()));
  const auto first = waiting_.end() - children;
  tree_.children_.insert(tree_.children_.end(), first, waiting_.end());
  waiting_.erase(first, waiting_.end());
  append(token, label);
}

void TreeBuilder::set_last_label(std::int32_t label) {
  if (tree_.size() == 0) throw UsageError("tree: there is no node yet to label");
  tree_.labels_.back() = label;
}

Tree TreeBuilder::finish() {
  if (waiting() != 1) throw UsageError(fmt::format("tree: finish() needs one subtree, {} are waiting", waiting()));
  waiting_.clear();
  // A copy is exactly as large as the tree, where the growing vectors are up to twice that; they are kept for the next.
  Tree tree = tree_;
  clear();
  return tree;
}

void TreeBuilder::clear() {
  waiting_.clear();
  tree_.tokens_.clear();
  tree_.labels_.clear();
  tree_.children_.clear();
  tree_.child_ends_.clear();
  tree_.leaf_count_ = 0;
}

}  // namespace espalier::data
