/// Learning ListOps: a Tree-LSTM over the given tree that answers with one of ten digits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/listops.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/task.h"
#include "espalier/train/trainer.h"

namespace espalier::models {

struct ListOpsSizes {
  std::int32_t embedding = 32;
  std::int32_t hidden = 48;
};

/// The network: an embedding of the 15 tokens, a binary Tree-LSTM (nn/tree_lstm.h), a linear classifier at the root.
///
/// Within the tree, a finished list is classified in the same way, and the list around it sees it as a leaf whose
/// embedding is softmax(scores) R, R: [10, embedding]. So what a list is learnt to do with digits, it does with the
/// values of lists too. Only the root's value is trained on.
///
/// Thread safety: as Model.
class ESPALIER_EXPORT ListOpsNet {
 public:
  explicit ListOpsNet(const ListOpsSizes& sizes, std::uint64_t seed = 1);

  /// The scores of the ten digits, [10]. Written for one tree; any number of trees may go on one graph.
  Expr operator()(Graph& graph, const data::Tree& tree) const;

  Model& model() const { return *model_; }
  const ListOpsSizes& sizes() const { return sizes_; }

  /// The weights, with the sizes and further facts as metadata.
  void save(const std::filesystem::path& path, Metadata facts = {}) const;
  /// The net of such a file; `facts` receives its metadata. Refuses (DataError) weights of anything else.
  static ListOpsNet load(const std::filesystem::path& path, Metadata* facts = nullptr);

 private:
  ListOpsSizes sizes_;
  std::unique_ptr<Model> model_;
  nn::Embedding words_;
  nn::BinaryTreeLstm cell_;
  nn::Linear classify_;
  nn::Linear read_;
};

/// Expressions of this depth and more are counted apart: there, guessing from the last few tokens no longer helps.
inline constexpr std::int32_t kListOpsDeep = 5;

/// How well a net does on a set of expressions.
struct ListOpsScore {
  std::int64_t instances = 0;
  std::int64_t correct = 0;
  std::int64_t deep_instances = 0;
  std::int64_t deep_correct = 0;
  double total_loss = 0;

  double accuracy() const { return share(correct, instances); }
  double deep_accuracy() const { return share(deep_correct, deep_instances); }
  double loss() const { return instances == 0 ? 0 : total_loss / static_cast<double>(instances); }

 private:
  static double share(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// Expressions to learn and to evaluate on. The net and the trees must outlive it.
class ESPALIER_EXPORT ListOpsTask : public train::Task {
 public:
  ListOpsTask(const ListOpsNet& net, std::span<const data::Tree> train, std::span<const data::Tree> held_out)
      : net_(net), train_(train), held_out_(held_out) {}

  std::int64_t size(train::Split split) const override { return std::ssize(trees(split)); }
  std::int64_t nodes(train::Split split, std::int64_t i) const override { return tree(split, i).size(); }
  Expr record(Graph& graph, train::Split split, std::int64_t i, std::vector<Expr>& outputs) const override;
  void read(train::Split split, std::int64_t i, std::span<const Tensor> outputs,
            train::Prediction& prediction) const override;
  train::Answers answers() const override { return train::Answers::kClasses; }
  std::vector<std::string> classes() const override;
  std::string text(train::Split split, std::int64_t i) const override;

  /// The counts behind an evaluation of this task.
  ListOpsScore score(train::Split split, const train::Evaluation& evaluation) const;

 private:
  std::span<const data::Tree> trees(train::Split split) const;
  const data::Tree& tree(train::Split split, std::int64_t i) const { return trees(split)[static_cast<std::size_t>(i)]; }

  const ListOpsNet& net_;
  std::span<const data::Tree> train_;
  std::span<const data::Tree> held_out_;
};

/// The score of a net on a set. The same numbers whatever the number of threads.
ESPALIER_EXPORT ListOpsScore evaluate(const ListOpsNet& net, std::span<const data::Tree> trees,
                                      const train::EvaluationWatch& watch = {});

struct ListOpsTraining {
  std::int32_t batch = 32;
  /// The highest; reached after the warm-up.
  double learning_rate = 6e-3;
  /// Steps in which the learning rate rises evenly; of a short run at most a tenth.
  std::int32_t warmup = 500;
  double clip_norm = 1;
  std::int32_t epochs = 4;
  std::uint64_t seed = 1;
  Strategy strategy = Strategy::kFrontier;
  train::RecordAhead ahead = train::RecordAhead::kWherePays;
};

/// For a Trainer that trains a net with Adam; the learning rate rises in the warm-up and then falls to zero along a
/// cosine. Training expressions are scored as they are used; held-out ones are not evaluated before the end.
ESPALIER_EXPORT train::TrainerOptions trainer_options(const ListOpsTraining& training, const ListOpsSizes& sizes);

/// How fast gradients of minibatches are computed by one strategy.
struct StrategySpeed {
  Strategy strategy = Strategy::kNone;
  double instances_per_second = 0;  // the median of the rounds
  double steps = 0;                 // a graph
  double bound = 0;                 // on those
};

/// Measures all strategies in turn on the same minibatches, without changing the net, for about so many seconds.
ESPALIER_EXPORT std::vector<StrategySpeed> compare_strategies(const ListOpsNet& net, std::span<const data::Tree> trees,
                                                              std::int32_t batch, double seconds);

}  // namespace espalier::models
