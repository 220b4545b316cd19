/// RelatednessNet: how related two sentences are, from their dependency trees (Tai, Socher and Manning, 2015, section
/// 4.2).
///
///   h_a, h_b  states of the roots, by a Child-Sum Tree-LSTM (nn/child_sum_tree_lstm.h); a node reads its word
///   s = sigmoid((h_a * h_b) W_product + |h_a - h_b| W_difference + b)
///   p = softmax(s W_p + b_p), over the whole scores 1 to `scores`; the predicted score is the sum of k p_k
/// The loss is the Kullback-Leibler divergence of p from the sparse distribution whose mean is the right score: between
/// two whole scores, each gets a share by how near it is.
///
/// Difference from the paper: no L2 penalty (use weight decay).
///
/// Thread safety: as Model.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/models/form.h"
#include "espalier/models/instances.h"
#include "espalier/models/settings.h"
#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/tensor/tensor.h"

namespace espalier::models {

/// The states of the nodes of dependency trees.
class ESPALIER_EXPORT DependencyEncoder {
 public:
  DependencyEncoder(Model& model, std::int32_t words, std::int32_t embedding, std::int32_t hidden,
                    const std::optional<Tensor>& vectors, bool freeze_words, double word_dropout, Form form);

  /// Of all nodes: one Expr of many rows, or (Form::kNodes) one per node. Valid until the next call in this thread.
  const std::vector<Expr>& states(Graph& graph, const DependencyTree& tree) const;
  /// The state of the root.
  Expr root(Graph& graph, const DependencyTree& tree) const;

 private:
  Expr along(Graph& graph, const DependencyTree& tree) const;

  nn::Embedding words_;
  nn::ChildSumTreeLstm cell_;
  double word_dropout_;
  Form form_;
};

struct ESPALIER_EXPORT RelatednessSettings {
  std::int32_t embedding = 300;
  std::int32_t hidden = 150;
  std::int32_t similarity = 50;  // size of s
  std::int32_t scores = 5;
  double dropout = 0;
  bool freeze_words = false;

  void list(SettingList& list);
};

class ESPALIER_EXPORT RelatednessNet {
 public:
  RelatednessNet(Model& model, const RelatednessSettings& settings, std::int32_t words,
                 const std::optional<Tensor>& vectors = std::nullopt, Form form = Form::kRows);

  /// log p: [scores].
  Expr distribution(Graph& graph, const TreePair& pair) const;
  /// One element, from distribution(). Refuses (UsageError) a score outside 1 to `scores`.
  Expr loss(const Expr& distribution, double score) const;
  /// The predicted score, from the value of distribution().
  static double score_of(const Tensor& distribution);

  const RelatednessSettings& settings() const { return settings_; }

 private:
  RelatednessSettings settings_;
  DependencyEncoder encoder_;
  nn::Linear product_;
  nn::Linear difference_;
  nn::Linear classify_;
};

/// The shares of the whole scores 1 to `count` of which `score` is the mean.
ESPALIER_EXPORT std::vector<float> sparse_distribution(double score, std::int32_t count);

}  // namespace espalier::models
