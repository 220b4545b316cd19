/// TaskOf: a Task (train/task.h) made of functions over instances of any type.
///
///   train::TaskOf<Tree> task({.train = trees,
///                             .held_out = others,
///                             .output = [&](Graph& g, const Tree& t) { return net.scores(g, t); },
///                             .label = [](const Tree& t) { return t.label; }});
///
/// is a complete classifier: with `label`, the loss is the cross entropy of the output, the prediction the class with
/// the highest score, the metric accuracy. With `target` instead, the loss is the squared difference, and the metrics
/// are RMSE and MAE. Give `loss`, `read` and `measure` to replace these.
///
/// Thread safety: as Task. The instances are not copied: they and whatever the functions refer to must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"
#include "espalier/tensor/tensor.h"
#include "espalier/train/predict.h"
#include "espalier/train/task.h"

namespace espalier::train {

template <class Instance>
struct TaskParts {
  std::span<const Instance> train = {};
  std::span<const Instance> held_out = {};
  std::span<const Instance> test = {};

  /// Records what the model says about an instance. It must not need the right answer, so that it also predicts.
  std::function<Expr(Graph&, const Instance&)> output = {};
  /// One of these two: the right class, or the right number.
  std::function<std::int64_t(const Instance&)> label = {};
  std::function<double(const Instance&)> target = {};

  // --- all of the following are optional
  // -------------------------------------------------------------------------------

  /// Compares the output with the right answer: an Expr with one element, or with many rows of one, which are added up.
  std::function<Expr(const Expr& output, const Instance&)> loss = {};
  /// Fills expected, predicted and scores from the value of the output.
  std::function<void(const Tensor& output, const Instance&, Prediction&)> read = {};
  std::function<std::vector<Metric>(std::span<const Prediction>)> measure = {};
  /// Roughly how much work an instance is: words, nodes.
  std::function<std::int64_t(const Instance&)> nodes = {};
  /// An instance as one line of text.
  std::function<std::string(const Instance&)> text = {};
  std::vector<std::string> classes = {};
  /// What `read` fills, if it is given.
  Answers answers = Answers::kNone;
};

template <class Instance>
class TaskOf : public Task {
 public:
  /// Refuses (UsageError) parts without `output`, and those from which no loss follows.
  explicit TaskOf(TaskParts<Instance> parts) : parts_(std::move(parts)) {
    if (!parts_.output) throw UsageError("TaskOf: the function `output` is missing");
    if (parts_.label && parts_.target) throw UsageError("TaskOf: both `label` and `target` are given");
    if (!parts_.loss && !parts_.label && !parts_.target)
      throw UsageError("TaskOf: one of `label`, `target` and `loss` is needed, and none is given");
  }

  std::span<const Instance> instances(Split split) const {
    switch (split) {
      case Split::kTrain: return parts_.train;
      case Split::kHeldOut: return parts_.held_out;
      case Split::kTest: return parts_.test;
    }
    return {};
  }
  const Instance& instance(Split split, std::int64_t i) const { return instances(split)[static_cast<std::size_t>(i)]; }

  std::int64_t size(Split split) const override { return std::ssize(instances(split)); }
  std::int64_t nodes(Split split, std::int64_t i) const override {
    return parts_.nodes ? parts_.nodes(instance(split, i)) : 1;
  }
  Expr record(Graph& graph, Split split, std::int64_t i, std::vector<Expr>& outputs) const override {
    const Instance& of = instance(split, i);
    outputs.push_back(parts_.output(graph, of));
    const Expr output = outputs.back();
    if (parts_.loss) return parts_.loss(output, of);
    if (parts_.label) return cross_entropy(output, static_cast<std::int32_t>(parts_.label(of)));
    return squared_distance(output, graph.constant(output.shape(), parts_.target(of), output.dtype()));
  }
  void read(Split split, std::int64_t i, std::span<const Tensor> outputs, Prediction& prediction) const override {
    const Instance& of = instance(split, i);
    if (parts_.read) return parts_.read(outputs[0], of, prediction);
    if (parts_.label) return read_class(outputs[0], parts_.label(of), prediction);
    if (!parts_.target) return;
    const double target = parts_.target(of);
    read_numbers(outputs[0], {&target, 1}, prediction);
  }
  Answers answers() const override {
    if (parts_.read) return parts_.answers;
    if (parts_.label) return Answers::kClasses;
    return parts_.target ? Answers::kNumbers : Answers::kNone;
  }
  std::vector<std::string> classes() const override { return parts_.classes; }
  std::vector<Metric> measure(std::span<const Prediction> predictions) const override {
    return parts_.measure ? parts_.measure(predictions) : Task::measure(predictions);
  }
  std::string text(Split split, std::int64_t i) const override {
    return parts_.text ? parts_.text(instance(split, i)) : std::string();
  }

  /// The model's output for further instances, without right answers: calls done(i, output) for each, in order.
  void predict(std::span<const Instance> further,
               const std::function<void(std::int64_t i, const Tensor& output)>& done) const {
    train::predict(
        std::ssize(further),
        [&](Graph& graph, std::int64_t i) { return parts_.output(graph, further[static_cast<std::size_t>(i)]); }, done);
  }
  /// The same for one.
  Tensor predict(const Instance& one) const {
    Tensor result;
    predict(std::span<const Instance>(&one, 1), [&](std::int64_t, const Tensor& output) { result = output; });
    return result;
  }

 private:
  TaskParts<Instance> parts_;
};

}  // namespace espalier::train
