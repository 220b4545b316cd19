/// Learning ListOps: a Tree-LSTM over the given tree that answers with one of ten digits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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

namespace espalier::train {

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

/// Called now and then with how many instances are done and the score so far.
using ListOpsWatch = std::function<void(std::int64_t done, const ListOpsScore& score)>;

/// The score of a net on a set. The same numbers whatever the number of threads.
ESPALIER_EXPORT ListOpsScore evaluate(const ListOpsNet& net, std::span<const data::Tree> trees,
                                      const ListOpsWatch& watch = {});

/// Whether the next minibatch is recorded while one runs (train/ahead.h). The numbers are those of one graph for a
/// whole minibatch; divided among threads they differ by rounding.
enum class RecordAhead : std::int32_t {
  kWherePays,  // minibatches of up to kListOpsAhead expressions, with several threads; larger ones are divided
  kAlways,
  kNever,
};
/// bench/ahead.cc has the figures.
inline constexpr std::int32_t kListOpsAhead = 2;

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
  RecordAhead ahead = RecordAhead::kWherePays;
};

/// Trains a net with Adam on minibatches drawn in a new order every epoch; the learning rate rises in the warm-up and
/// then falls to zero along a cosine. Each minibatch is divided among the threads, whose gradients are added up in a
/// fixed order, or, where it is too small for that, the next one is recorded meanwhile: the same seed and number of
/// threads give the same bits.
class ESPALIER_EXPORT ListOpsTrainer {
 public:
  ListOpsTrainer(ListOpsNet& net, std::span<const data::Tree> trees, const ListOpsTraining& options);
  ~ListOpsTrainer();
  ListOpsTrainer(const ListOpsTrainer&) = delete;
  ListOpsTrainer& operator=(const ListOpsTrainer&) = delete;

  /// One pass over the training set. The score is that of each tree before the update that used it.
  ListOpsScore run_epoch(const ListOpsWatch& watch = {});

  /// Of all graphs so far; seconds are those of all threads together.
  Statistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

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

}  // namespace espalier::train
