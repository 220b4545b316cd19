/// The Trainer: it learns, repeats itself to the bit, stops early, keeps the best weights, and refuses nonsense.
#include "espalier/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/support/refusal.h"
#include "tests/support/threads.h"
#include "tests/train/small_task.h"

namespace espalier::train {
namespace {

const std::vector<Sentence>& training() {
  static const std::vector<Sentence> set = sentences(120, 1);
  return set;
}
const std::vector<Sentence>& held_out() {
  static const std::vector<Sentence> set = sentences(60, 2);
  return set;
}

TrainerOptions short_run() {
  TrainerOptions options;
  options.epochs = 4;
  options.batch = 16;
  options.optimizer = "adam(learning_rate=0.02)";
  return options;
}

/// The weights after a run.
std::vector<Tensor> trained(const TrainerOptions& options, double dropout = 0) {
  SmallNet net(dropout);
  const TaskOf<Sentence> task(small_parts(net, training(), held_out()));
  Trainer(net.model, task, options).run();
  return weights_of(net.model);
}

TEST(Trainer, LearnsAndMeasures) {
  SmallNet net;
  const TaskOf<Sentence> task(small_parts(net, training(), held_out()));
  TrainerOptions options = short_run();
  options.epochs = 15;
  options.measure_training = true;
  Trainer trainer(net.model, task, options);
  const RunResult result = trainer.run();
  EXPECT_EQ(result.ending, Ending::kFinished);
  EXPECT_EQ(result.updates, 15 * 8);
  ASSERT_EQ(result.history.size(), 15U);
  EXPECT_LT(result.history.back().loss, result.history.front().loss);
  EXPECT_GT(result.history.back().accuracy.value(), 0.9);
  const Evaluation evaluation = trainer.evaluate(Split::kHeldOut);
  EXPECT_EQ(evaluation.instances, 60);
  EXPECT_EQ(evaluation.metrics.front().name, "accuracy");
  EXPECT_GT(evaluation.metrics.front().value, 0.9);
  EXPECT_EQ(evaluation.metrics.front().value, result.best_value);  // the model has the best weights
}

TEST(Trainer, SameSettingsGiveTheSameBits) {
  for (const int threads : {1, 2}) {
    const testing::Threads count(threads);
    EXPECT_EQ(trained(short_run(), 0.3), trained(short_run(), 0.3)) << threads;
    TrainerOptions other = short_run();
    other.seed = 2;
    EXPECT_NE(trained(short_run(), 0.3), trained(other, 0.3));
  }
}

TEST(Trainer, RecordingAheadDoesNotChangeABit) {
  TrainerOptions options = short_run();
  options.batch = 2;
  options.epochs = 1;
  options.ahead = RecordAhead::kNever;
  const testing::Threads one(1);
  const std::vector<Tensor> plain = trained(options, 0.3);
  options.ahead = RecordAhead::kAlways;
  EXPECT_EQ(trained(options, 0.3), plain);
  const testing::Threads two(2);
  EXPECT_EQ(trained(options, 0.3), plain);
  options.ahead = RecordAhead::kWherePays;
  EXPECT_EQ(trained(options, 0.3), plain);
}

TEST(Trainer, KeptRecordingsDoNotChangeABit) {
  for (const int threads : {1, 2}) {
    const testing::Threads count(threads);
    for (const RecordAhead ahead : {RecordAhead::kNever, RecordAhead::kAlways}) {
      TrainerOptions options = short_run();
      options.measure_training = true;
      options.ahead = ahead;
      const std::vector<Tensor> anew = trained(options, 0.3);
      options.keep_recordings = true;
      EXPECT_EQ(trained(options, 0.3), anew);
    }
  }
}

TEST(Trainer, KeptRecordingsAreRecordedOnce) {
  for (const bool keeps : {false, true}) {
    SmallNet net;
    TaskParts<Sentence> parts = small_parts(net, training(), {});
    std::atomic<int> recorded = 0;
    parts.output = [&](Graph& graph, const Sentence& sentence) {
      ++recorded;
      return net.scores(graph, sentence);
    };
    const TaskOf<Sentence> task(parts);
    TrainerOptions options = short_run();
    options.evaluate_every = 0;
    options.keep_recordings = keeps;
    Trainer(net.model, task, options).run();
    EXPECT_EQ(recorded, (keeps ? 1 : options.epochs) * 120);
  }
}

TEST(Trainer, AccumulatesToALargerMinibatch) {
  const testing::Threads one(1);
  TrainerOptions options = short_run();
  options.optimizer = "sgd(learning_rate=0.1)";
  const std::vector<Tensor> large = trained(options);
  options.batch = 4;
  options.accumulate = 4;
  const std::vector<Tensor> small = trained(options);
  for (std::size_t i = 0; i < large.size(); ++i)
    for (std::int64_t e = 0; e < large[i].elements(); ++e) EXPECT_NEAR(large[i].at(e), small[i].at(e), 1e-5);
}

/// What a run tells, as lines.
class Tells : public Observer {
 public:
  void run_started(const RunStarted& event) override {
    lines.push_back(std::string(event.resumed ? "resumed" : "started") + " at " + std::to_string(event.updates) +
                    " of " + std::to_string(event.planned_updates));
    notes.assign(event.notes.begin(), event.notes.end());
  }
  void epoch_started(const EpochStarted& event) override {
    lines.push_back("epoch " + std::to_string(event.epoch) + " from " + std::to_string(event.done));
  }
  void step_done(const StepDone& event) override {
    lines.push_back("step " + std::to_string(event.update) + " done " + std::to_string(event.done));
    if (on_step) on_step(event);
  }
  void evaluated(const Evaluated& event) override {
    lines.push_back(std::string(name_of(event.split)) + (event.is_best ? " best" : ""));
  }
  void epoch_done(const EpochSummary& event) override { lines.push_back("end of " + std::to_string(event.epoch)); }
  void checkpoint_written(const CheckpointWritten& event) override {
    lines.push_back("checkpoint at " + std::to_string(event.update));
  }
  void run_ended(const RunEnded& event) override { lines.push_back(std::string(name_of(event.ending))); }

  std::vector<std::string> lines;
  std::vector<std::string> notes;
  std::function<void(const StepDone&)> on_step;
};

TEST(Trainer, TellsItsObserversInOrder) {
  const TemporaryFolder folder;
  SmallNet net;
  const TaskOf<Sentence> task(small_parts(net, training(), held_out()));
  TrainerOptions options = short_run();
  Tells tells;
  options.folder = folder / "run";
  options.epochs = 1;
  options.batch = 50;
  options.checkpoint_every = 2;
  options.observers = {&tells};
  Trainer(net.model, task, options).run();
  EXPECT_THAT(tells.lines,
              ::testing::ElementsAre("started at 0 of 3", "checkpoint at 0", "epoch 1 from 0", "step 1 done 50",
                                     "step 2 done 100", "checkpoint at 2", "step 3 done 120", "held_out best",
                                     "end of 1", "checkpoint at 3", "finished"));
}

/// A task whose held-out results are given.
TaskParts<Sentence> with_results(const SmallNet& net, std::vector<double> results) {
  TaskParts<Sentence> parts = small_parts(net, training(), held_out());
  parts.measure = [results, next = std::make_shared<std::size_t>(0)](std::span<const Prediction>) {
    return std::vector<Metric>{{"given", results[(*next)++], true}};
  };
  return parts;
}

TEST(Trainer, StopsEarlyWithTheBestWeights) {
  for (const bool has_folder : {false, true}) {
    const TemporaryFolder folder;
    SmallNet net;
    const TaskOf<Sentence> task(with_results(net, {0.5, 0.7, 0.6, 0.7, 0.9}));
    TrainerOptions options = short_run();
    options.epochs = 9;
    options.patience = 2;
    if (has_folder) options.folder = folder / "run";
    std::vector<Tensor> of_second;
    Tells tells;
    tells.on_step = [&](const StepDone& step) {
      if (step.epoch == 2) of_second = weights_of(net.model);
    };
    options.observers = {&tells};
    const RunResult result = Trainer(net.model, task, options).run();
    EXPECT_EQ(result.ending, Ending::kStoppedEarly);
    EXPECT_EQ(result.history.size(), 4U);  // 0.7 again is no improvement
    EXPECT_EQ(result.best_epoch, 2);
    EXPECT_EQ(result.best_value, 0.7);
    EXPECT_EQ(weights_of(net.model), of_second);
    EXPECT_EQ(result.message,
              "stopped early after 4 of 9 epochs and 32 updates; the best weights are those of epoch 2");
  }
}

TEST(Trainer, KeepsBestWeightsThatArePossiblyFromBeforeAKill) {
  const TemporaryFolder folder;
  SmallNet net;
  TrainerOptions options = short_run();
  options.folder = folder / "run";
  options.epochs = 1;
  const TaskOf<Sentence> task(with_results(net, {0.5}));
  Tells tells;
  tells.on_step = [&](const StepDone& step) {  // as if a life before this one had got further
    if (step.update == 1)
      net.model.save(options.folder + "/best.safetensors", {{"metric", "given"}, {"metric_value", "0.6"}});
  };
  options.observers = {&tells};
  Trainer(net.model, task, options).run();
  const SafetensorsReader best(options.folder + "/best.safetensors");
  EXPECT_EQ(best.metadata().at("metric_value"), "0.6");
}

TEST(Trainer, ChoosesByTheMetricThatIsAskedFor) {
  SmallNet net;
  const TaskOf<Sentence> task(small_parts(net, training(), held_out()));
  TrainerOptions options = short_run();
  options.metric = "loss";
  const RunResult result = Trainer(net.model, task, options).run();
  double least = std::numeric_limits<double>::infinity();
  for (const EpochSummary& epoch : result.history) least = std::min(least, epoch.held_out.back().value);
  EXPECT_EQ(result.best_value, least);
  options.metric = "f1";
  Tells tells;
  tells.on_step = [](const StepDone&) { FAIL() << "it trained before it looked"; };
  options.observers = {&tells};
  EXPECT_EQ(testing::refusal_of([&] { Trainer(net.model, task, options).run(); }),
            "Trainer: there is no metric \"f1\"; there are \"accuracy\", \"loss\"");
}

TEST(Trainer, AveragesWeightsAsByHand) {
  // The loss is the weight itself, so each update of SGD lowers it by the rate, 1.
  Model model;
  Parameter& weight = model.add("w", {1}, init::constant(10));
  struct Weight : Task {
    explicit Weight(const Parameter& of) : parameter(of) {}
    std::int64_t size(Split split) const override { return split == Split::kTest ? 0 : 3; }
    Expr record(Graph& graph, Split, std::int64_t, std::vector<Expr>&) const override {
      return sum_elements(graph.parameter(parameter));
    }
    const Parameter& parameter;
  };
  const Weight task(weight);
  TrainerOptions options;
  options.epochs = 1;
  options.batch = 1;
  options.optimizer = "sgd(learning_rate=1)";
  options.average_decay = 0.24;
  const RunResult result = Trainer(model, task, options).run();
  // Weights 9, 8, 7. Decays min(0.24, 2/11), min(0.24, 3/12), min(0.24, 4/13).
  const double first = 2.0 / 11 * 10 + 9.0 / 11 * 9;
  const double second = 0.24 * first + 0.76 * 8;
  const double third = 0.24 * second + 0.76 * 7;
  EXPECT_NEAR(result.history[0].held_out[0].value, third, 1e-6);  // evaluation uses the average
  EXPECT_NEAR(weight.value().at(0), third, 1e-6);
}

TEST(Trainer, RefusesNonsense) {
  SmallNet net;
  const TaskOf<Sentence> task(small_parts(net, training(), held_out()));
  const auto told = [&](const std::function<void(TrainerOptions&)>& change) {
    TrainerOptions options = short_run();
    change(options);
    return testing::refusal_of<UsageError>([&] { Trainer(net.model, task, options); });
  };
  EXPECT_EQ(told([](TrainerOptions& o) { o.epochs = 0; }), "Trainer: epochs must be 1 or more, not 0");
  EXPECT_EQ(told([](TrainerOptions& o) { o.batch = 0; }), "Trainer: batch must be 1 or more, not 0");
  EXPECT_EQ(told([](TrainerOptions& o) { o.accumulate = 0; }), "Trainer: accumulate must be 1 or more, not 0");
  EXPECT_EQ(told([](TrainerOptions& o) { o.average_decay = 1; }),
            "Trainer: average_decay must be at least 0 and below 1, not 1");
  EXPECT_EQ(told([](TrainerOptions& o) { o.evaluate_every = 0, o.patience = 1; }),
            "Trainer: patience needs held-out instances and evaluate_every above 0");
  EXPECT_EQ(told([](TrainerOptions& o) { o.schedule = "cosin"; }),
            "schedule \"cosin\": there is no schedule \"cosin\"; did you mean \"cosine\"?");
  EXPECT_EQ(testing::refusal_of([&] {
              const TaskOf<Sentence> empty(small_parts(net, {}, {}));
              Trainer(net.model, empty, {});
            }),
            "Trainer: the task has no training instances");
}

}  // namespace
}  // namespace espalier::train
