/// A loss or gradient that is not finite stops the run, and the message says where it came from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"
#include "tests/train/small_task.h"

namespace espalier::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::here;
using ::testing::StartsWith;

/// Trains on instances whose only word decides the loss; gives the error.
std::string refusal_with(const std::function<Expr(const Expr& output, const Sentence&)>& loss,
                         const TrainerOptions& options, SmallNet& net) {
  std::vector<Sentence> training(12);
  for (std::size_t i = 0; i < training.size(); ++i) training[i] = {{static_cast<std::int32_t>(i)}, 0};
  TaskParts<Sentence> parts = small_parts(net, training, {});
  parts.loss = loss;
  const TaskOf<Sentence> task(parts);
  return testing::refusal_of<UsageError>([&] { Trainer(net.model, task, options).run(); });
}

TrainerOptions in_order() {
  TrainerOptions options;
  options.epochs = 3;
  options.batch = 4;
  options.shuffle = false;
  options.optimizer = "sgd(learning_rate=0)";
  return options;
}

TEST(NotFinite, NamesStepOpInstanceAndParameterOfALoss) {
  SmallNet net;
  const int line = __LINE__ + 3;
  const auto loss = [](const Expr& output, const Sentence& sentence) {
    const Expr positive = sum_elements(output * output) + 1.0;
    return sentence.words[0] == 6 ? log(positive * -1.0) : positive;
  };
  EXPECT_THAT(refusal_with(loss, in_order(), net),
              AllOf(StartsWith("training stopped in step 2, epoch 1: the loss is nan: the value of node "),
                    HasSubstr(" = log(node "), HasSubstr(") at " + here(line) + " is the first that is not finite"),
                    HasSubstr("the nearest parameter is \"classify."), HasSubstr(", in training instance 6")));
}

TEST(NotFinite, NamesTheParameterAndOpOfAGradient) {
  SmallNet net;
  const int line = __LINE__ + 2;
  const auto loss = [](const Expr& output, const Sentence& sentence) {
    return sentence.words[0] == 9 ? sum_elements(sqrt(output * 0.0)) : sum_elements(output);  // slope 1 / 0
  };
  EXPECT_THAT(refusal_with(loss, in_order(), net),
              AllOf(StartsWith("training stopped in step 3, epoch 1: the gradient of parameter \""),
                    HasSubstr("\" is not finite: the gradient of node "), HasSubstr(" = sqrt(node "),
                    HasSubstr(" at " + here(line)), HasSubstr("in training instance 9")));
}

TEST(NotFinite, NamesAParameterThatIsNotFiniteItself) {
  SmallNet net;
  net.model.parameter("hidden.W").mutable_value().set(3, std::numeric_limits<double>::infinity());
  const auto loss = [](const Expr& output, const Sentence&) { return sum_elements(output); };
  EXPECT_THAT(refusal_with(loss, in_order(), net),
              HasSubstr(": parameter \"hidden.W\" has numbers that are not finite"));
}

TEST(NotFinite, LeavesTheLastCheckpoint) {
  for (const std::int32_t accumulate : {1, 2}) {
    const TemporaryFolder folder;
    SmallNet net;
    TrainerOptions options = in_order();
    options.folder = folder / "run";
    options.accumulate = accumulate;
    options.optimizer = "sgd(learning_rate=1e4)";
    const auto loss = [](const Expr& output, const Sentence&) { return sum_elements(exp(output * output)); };
    const std::string told = refusal_with(loss, options, net);
    EXPECT_THAT(told,
                AllOf(StartsWith("training stopped in step "),
                      HasSubstr("the weights before are in \"" + options.folder + "/checkpoint.safetensors" + "\"")));
    const SafetensorsReader checkpoint(options.folder + "/checkpoint.safetensors");
    const Tensor weights = checkpoint.read("weights/classify.W");
    for (std::int64_t i = 0; i < weights.elements(); ++i) EXPECT_TRUE(std::isfinite(weights.at(i)));
  }
}

}  // namespace
}  // namespace espalier::train
