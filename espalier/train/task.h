/// Task: what the Trainer (train/trainer.h) must know of a model and its data, one instance at a time.
///
/// Most programs use TaskOf (train/task_of.h), which makes a Task of a few functions over instances of the caller's own
/// type. Derive from Task itself if an instance has several outputs, or if the data are not in memory.
///
/// An author must provide size() and record(). The rest is optional: nodes() balances threads and makes batches by
/// node count possible, read() and answers() bring predictions and metrics, text() brings readable reports.
///
/// Thread safety: the Trainer calls the const functions from several threads at once, each for instances of its own.
/// They may read the model; nobody changes it meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/tensor/tensor.h"

namespace espalier::train {

/// The parts of a data set. Early stopping and the best weights are chosen on the held-out instances; the test
/// instances are left alone until somebody asks for them.
enum class Split : std::int32_t { kTrain, kHeldOut, kTest };
/// "train", "held_out", "test".
ESPALIER_EXPORT std::string_view name_of(Split split);
/// The same for people: "held out".
ESPALIER_EXPORT std::string_view words_of(Split split);

/// One figure of an evaluation.
struct Metric {
  std::string name;
  double value = 0;
  bool higher_is_better = true;
};

/// What kind of thing a model answers with: decides the default metrics, and how a report draws mistakes.
enum class Answers : std::int32_t {
  kNone,     // nothing but a loss
  kClasses,  // numbers of classes, one or, for a sequence of tags, many per instance
  kNumbers,  // real numbers, one or many per instance
};

/// What a model answered for one instance, beside what is right.
struct Prediction {
  std::int64_t instance = 0;  // its number in its split
  double loss = 0;
  /// One entry per question about the instance: the number of a class, or a real number. NaN: the right answer is not
  /// known, and the question does not count.
  std::vector<double> expected;
  std::vector<double> predicted;
  /// Optional: the scores of the classes, for metrics such as ROC AUC.
  std::vector<double> scores;
};

/// What Task::record() gives for an instance.
struct Recorded {
  Expr loss;
  std::vector<Expr> outputs;
};

class ESPALIER_EXPORT Task {
 public:
  virtual ~Task();

  /// How many instances a split has; 0 if there is no such split.
  virtual std::int64_t size(Split split) const = 0;
  /// Roughly how much work an instance is, such as the number of words or nodes; at least 1. The same in every run.
  virtual std::int64_t nodes(Split split, std::int64_t instance) const;

  /// Records an instance and returns its loss, an Expr with one element, or with many rows of one element each, such as
  /// the words of a sentence, whose sum counts. Training minimises the mean over the instances of a minibatch. Appends
  /// to `outputs` the Exprs that read() needs. The caller has called begin_instance(), with the instance's number as
  /// its key. graph.options().training tells training from evaluation.
  virtual Expr record(Graph& graph, Split split, std::int64_t instance, std::vector<Expr>& outputs) const = 0;
  /// Records several instances and gives an entry for each. By default calls begin_instance() and record() for one
  /// after the other. A model that needs values in the middle runs them together here, by run_batched().
  virtual std::vector<Recorded> record_all(Graph& graph, Split split, std::span<const std::int64_t> instances) const;
  /// Fills expected, predicted and, if they matter, scores from the values of the outputs that record() appended, in
  /// the same order. Leaves them empty by default.
  virtual void read(Split split, std::int64_t instance, std::span<const Tensor> outputs, Prediction& prediction) const;

  /// What the predictions are.
  virtual Answers answers() const;
  /// The names of the classes, in order of their numbers; empty if they have none.
  virtual std::vector<std::string> classes() const;
  /// The figures of an evaluation, the most important one first; the Trainer adds the mean loss. By default those that
  /// answers() suggests: accuracy for classes; RMSE and MAE for numbers.
  virtual std::vector<Metric> measure(std::span<const Prediction> predictions) const;

  /// An instance as one line of text, for reports and to notice that the data have changed between two runs. Empty by
  /// default.
  virtual std::string text(Split split, std::int64_t instance) const;
};

/// A number that changes if the instances of a split do, as far as size(), nodes() and text() show it.
ESPALIER_EXPORT std::uint64_t fingerprint(const Task& task, Split split);

/// For read(): the class with the highest score, the first of equals, beside the right one.
ESPALIER_EXPORT void read_class(const Tensor& scores, std::int64_t label, Prediction& prediction);
/// For read(): the numbers of a tensor beside the right ones. Refuses (UsageError) unequal counts.
ESPALIER_EXPORT void read_numbers(const Tensor& output, std::span<const double> targets, Prediction& prediction);

}  // namespace espalier::train
