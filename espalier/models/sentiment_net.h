/// SentimentNet: the sentiment of a phrase from its binary parse tree, after Socher et al. (2013).
///
/// The state of a leaf comes from its word, the state of an inner node from the states of its two children, by one of
/// these cells:
///   tree_lstm  the binary Tree-LSTM of Tai, Socher and Manning (2015), section 3.2 (nn/tree_lstm.h)
///   tree_gru   a gated unit per child (nn/tree_gru.h); words are projected to the size of the state first
///   tree_rnn   leaf: tanh(x W_leaf + b_leaf); node: tanh([h_left h_right] W + b)       (Socher et al., 2011)
///   mv_rnn     a vector v and a matrix M per node (Socher et al., 2012): a leaf looks both up; a node has
///              v = tanh([M_l v_r, M_r v_l] W_v + b_v) and M = W_M [M_l; M_r] + b_M
/// Scores of the classes are linear in the state. The loss is the cross entropy summed over all labelled nodes, or
/// that of the root.
///
/// Differences from Tai et al.: no L2 penalty (use weight decay); word vectors learn at the rate of the other weights
/// unless `freeze_words` or a learning rate scale says otherwise.
///
/// Thread safety: as Model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/models/form.h"
#include "espalier/models/instances.h"
#include "espalier/models/settings.h"
#include "espalier/nn/model.h"
#include "espalier/tensor/tensor.h"

namespace espalier::models {

struct ESPALIER_EXPORT SentimentSettings {
  std::string cell = "tree_lstm";
  std::int32_t classes = 5;
  std::int32_t embedding = 300;
  std::int32_t hidden = 150;
  std::string loss = "every";  // node, or "root"
  double dropout = 0.5;        // of states, where they are classified
  double word_dropout = 0;     // of elements of word vectors
  bool freeze_words = false;

  void list(SettingList& list);
};

/// What computes the states of a tree's nodes.
class TreeEncoder {
 public:
  virtual ~TreeEncoder() = default;
  /// One row per node.
  virtual Expr rows(Graph& graph, const BinaryTree& tree) const = 0;
  /// One Expr per node, in `states`, which is empty.
  virtual void nodes(Graph& graph, const BinaryTree& tree, std::vector<Expr>& states) const = 0;
};

class ESPALIER_EXPORT SentimentNet {
 public:
  /// `words` is the size of the vocabulary. `vectors` are initial vectors of the first words. Refuses (UsageError)
  /// settings outside their ranges, and vectors of another size than `embedding`. mv_rnn has vectors of the size
  /// `hidden`, and no word_dropout.
  SentimentNet(Model& model, const SentimentSettings& settings, std::int32_t words,
               const std::optional<Tensor>& vectors = std::nullopt, Form form = Form::kRows);
  ~SentimentNet();

  /// One element, or one per node, to be summed. Refuses (UsageError) a tree of which no label counts.
  Expr loss(Graph& graph, const BinaryTree& tree) const { return loss(graph, tree, nullptr); }
  /// Of the root: [classes].
  Expr scores(Graph& graph, const BinaryTree& tree) const;
  /// The loss, and the scores of the root from the same pass.
  Expr loss(Graph& graph, const BinaryTree& tree, Expr* scores) const;

  const SentimentSettings& settings() const { return settings_; }

 private:
  /// Of all nodes, the root's last: one Expr of many rows, or several.
  const std::vector<Expr>& states(Graph& graph, const BinaryTree& tree) const;
  Expr root(const std::vector<Expr>& states, const BinaryTree& tree) const;
  SentimentSettings settings_;
  Form form_;
  std::unique_ptr<const TreeEncoder> encoder_;
  class Head;
  std::unique_ptr<const Head> head_;
};

}  // namespace espalier::models
