/// Ensembles, and predictions for further instances.
#include "espalier/train/ensemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "espalier/base/error.h"
#include "tests/support/refusal.h"
#include "tests/support/threads.h"
#include "tests/train/small_task.h"

namespace espalier::train {
namespace {

TEST(Ensemble, TrainsItsMembersFromDifferentSeedsAndAveragesTheirOutputs) {
  const TemporaryFolder folder;
  const std::vector<Sentence> training = sentences(60, 1);
  const std::vector<Sentence> held_out = sentences(30, 2);
  std::vector<std::unique_ptr<SmallNet>> nets;
  std::vector<std::unique_ptr<TaskOf<Sentence>>> tasks;
  Ensemble ensemble;
  for (std::uint64_t seed = 5; seed <= 6; ++seed) {
    nets.push_back(std::make_unique<SmallNet>(0, seed));
    tasks.push_back(std::make_unique<TaskOf<Sentence>>(small_parts(*nets.back(), training, held_out)));
    ensemble.add(nets.back()->model, *tasks.back());
  }
  const auto results = ensemble.train({.folder = folder / "run", .epochs = 2, .seed = 5});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/seed-5/best.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/seed-6/best.safetensors"));
  EXPECT_NE(weights_of(nets[0]->model), weights_of(nets[1]->model));
  const Evaluation together = ensemble.evaluate(Split::kHeldOut);
  const Evaluation one = evaluate(*tasks[0], Split::kHeldOut);
  const Evaluation other = evaluate(*tasks[1], Split::kHeldOut);
  ASSERT_EQ(together.predictions.size(), 30U);
  EXPECT_NEAR(together.loss, (one.loss + other.loss) / 2, 1e-12);
  for (std::size_t i = 0; i < 30; ++i)
    for (std::size_t c = 0; c < 2; ++c)
      EXPECT_NEAR(together.predictions[i].scores[c],
                  (one.predictions[i].scores[c] + other.predictions[i].scores[c]) / 2, 1e-6);
}

TEST(Ensemble, RefusesMembersWithOtherData) {
  const std::vector<Sentence> training = sentences(5, 1);
  SmallNet net;
  const TaskOf<Sentence> some(small_parts(net, training, training));
  const TaskOf<Sentence> none(small_parts(net, training, {}));
  Ensemble ensemble;
  EXPECT_EQ(testing::refusal_of<UsageError>([&] { ensemble.evaluate(Split::kTest); }), "Ensemble: it has no members");
  ensemble.add(net.model, some);
  EXPECT_EQ(testing::refusal_of<UsageError>([&] { ensemble.add(net.model, none); }),
            "Ensemble: the first member has 5 held_out instances, and another 0");
}

TEST(Predict, GivesOutputsInOrderWhateverTheThreads) {
  const std::vector<Sentence> further = sentences(3000, 9);  // more than are computed at a time
  SmallNet net;
  const TaskOf<Sentence> task(small_parts(net, further, {}));
  std::vector<std::vector<Tensor>> all;
  for (const int threads : {1, 3}) {
    const testing::Threads count(threads);
    std::vector<Tensor>& outputs = all.emplace_back();
    task.predict(further, [&](std::int64_t i, const Tensor& output) {
      EXPECT_EQ(i, std::ssize(outputs));
      outputs.push_back(output);
    });
    EXPECT_EQ(outputs.size(), further.size());
  }
  EXPECT_EQ(all[0], all[1]);
  Graph graph({.training = false});
  graph.begin_instance();
  const Tensor alone = net.scores(graph, further[2500]).value();
  for (std::int64_t i = 0; i < 2; ++i) EXPECT_NEAR(alone.at(i), all[0][2500].at(i), 1e-5);
}

TEST(TaskOf, LearnsNumbersByTheirTarget) {
  const std::vector<Sentence> training = sentences(40, 3);
  SmallNet net;
  TaskParts<Sentence> parts = small_parts(net, training, training);
  parts.label = nullptr;
  parts.output = [&](Graph& graph, const Sentence& sentence) { return slice(net.scores(graph, sentence), 0, 1); };
  parts.target = [](const Sentence& sentence) { return static_cast<double>(sentence.words.size()); };
  const TaskOf<Sentence> task(parts);
  const RunResult result = Trainer(net.model, task, {.epochs = 10, .optimizer = "adam(lr=0.02)"}).run();
  ASSERT_EQ(result.history[0].held_out.size(), 3U);
  EXPECT_EQ(result.history[0].held_out[0].name, "rmse");
  EXPECT_LT(result.best_value, result.history[0].held_out[0].value);
  EXPECT_EQ(testing::refusal_of<UsageError>([&] {
              parts.label = [](const Sentence&) { return 0; };
              TaskOf<Sentence> both(parts);
            }),
            "TaskOf: both `label` and `target` are given");
  EXPECT_EQ(testing::refusal_of<UsageError>([&] { TaskOf<Sentence> nothing({}); }),
            "TaskOf: the function `output` is missing");
}

}  // namespace
}  // namespace espalier::train
