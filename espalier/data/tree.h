/// A flat, immutable ordered tree with a token and a label at each node: sentences, expressions, parses.
///
/// Invariants:
/// 1. Nodes are numbered 0 to size() - 1 in post order: children come before their parent, the root is last, and the
///    leaves appear from left to right. A loop over the numbers is a bottom-up pass; nothing here recurses, so a tree
///    may be as deep as it is large.
/// 2. Every node but the root is the child of exactly one node.
///
/// Thread safety: a const Tree may be read by any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::data {

/// The token or label of a node that has none.
inline constexpr std::int32_t kNone = -1;

class ESPALIER_EXPORT Tree {
 public:
  /// A tree without nodes; TreeBuilder makes the others.
  Tree() = default;

  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  /// The last node; -1 in a tree without nodes.
  std::int32_t root() const { return size() - 1; }

  std::int32_t token(std::int32_t node) const { return tokens_[static_cast<std::size_t>(node)]; }
  std::int32_t label(std::int32_t node) const { return labels_[static_cast<std::size_t>(node)]; }
  /// The label of the root, kNone in a tree without nodes.
  std::int32_t label() const { return labels_.empty() ? kNone : labels_.back(); }
  /// From left to right; empty for a leaf.
  std::span<const std::int32_t> children(std::int32_t node) const {
    const auto at = static_cast<std::size_t>(node);
    const auto begin = static_cast<std::size_t>(at == 0 ? 0 : child_ends_[at - 1]);
    return std::span(children_).subspan(begin, static_cast<std::size_t>(child_ends_[at]) - begin);
  }
  bool is_leaf(std::int32_t node) const { return children(node).empty(); }
  std::int32_t leaf_count() const { return leaf_count_; }

  /// The tree as text: a leaf is its word, an inner node "( child child )", with its own word after "(" if it has a
  /// token. Refuses (UsageError) a token without a word and a leaf without a token.
  std::string to_string(std::span<const std::string_view> words) const;

  /// Same structure, tokens and labels.
  bool operator==(const Tree&) const = default;

 private:
  friend class TreeBuilder;

  std::vector<std::int32_t> tokens_;
  std::vector<std::int32_t> labels_;
  std::vector<std::int32_t> children_;    // of node 0, then of node 1, ...
  std::vector<std::int32_t> child_ends_;  // where the children of each node end in children_
  std::int32_t leaf_count_ = 0;
};

/// Makes a Tree from the leaves up. Finished subtrees wait in a row; leaf() appends one, node(n) joins the last n.
///
///     TreeBuilder builder;
///     builder.leaf(3);
///     builder.leaf(4);
///     builder.node(2);
///     Tree tree = builder.finish();
class ESPALIER_EXPORT TreeBuilder {
 public:
  void leaf(std::int32_t token, std::int32_t label = kNone);
  /// Refuses (UsageError) fewer than one child and more children than there are subtrees waiting.
  void node(std::int32_t children, std::int32_t label = kNone, std::int32_t token = kNone);
  /// Replaces the label of the node made last.
  void set_last_label(std::int32_t label);
  /// The tree; the builder is empty again and can be used for the next one. Refuses (UsageError) when not exactly one
  /// subtree is waiting.
  Tree finish();
  /// Forgets everything.
  void clear();

  /// Nodes so far.
  std::int32_t size() const { return tree_.size(); }
  /// Finished subtrees that no node has joined yet.
  std::int32_t waiting() const { return static_cast<std::int32_t>(waiting_.size()); }

 private:
  void append(std::int32_t token, std::int32_t label);

  Tree tree_;
  std::vector<std::int32_t> waiting_;
};

}  // namespace espalier::data
