/// Learning ListOps: it learns, repeats itself to the bit, and comes back from a file as it was.
#include "espalier/models/listops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/threads.h"
#include "espalier/nn/safetensors.h"

namespace espalier::models {
namespace {

namespace fs = std::filesystem;

constexpr ListOpsSizes kSmall{.embedding = 8, .hidden = 16};

/// A folder that goes with the test, and the process's thread count as it was.
class LearnListOps : public ::testing::Test {
 protected:
  LearnListOps() { fs::create_directories(folder_); }
  ~LearnListOps() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    set_thread_count(threads_);
  }

  fs::path file(const std::string& name) const { return folder_ / name; }

  static data::ListOpsSplit sets(std::int64_t train, std::int64_t held_out) {
    return data::generate_listops_split({.seed = 4, .max_tokens = 20}, train, held_out);
  }

  /// The bytes of the weights after two epochs.
  std::string trained(int threads, std::uint64_t seed) const {
    return trained(threads, {.batch = 16, .epochs = 2, .seed = seed});
  }
  std::string trained(int threads, const ListOpsTraining& options) const {
    set_thread_count(threads);
    const data::ListOpsSplit data = sets(150, 10);
    ListOpsNet net(kSmall, options.seed);
    train_on(net, data.train, options);
    net.save(file("weights"));
    return read_file(file("weights"));
  }

  static train::RunResult train_on(const ListOpsNet& net, std::span<const data::Tree> trees,
                                   const ListOpsTraining& options) {
    const ListOpsTask task(net, trees, {});
    return train::Trainer(net.model(), task, trainer_options(options, net.sizes())).run();
  }

  static std::string refusal_of_loading(const fs::path& path) {
    try {
      ListOpsNet::load(path);
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing was refused";
  }

 private:
  int threads_ = thread_count();
  fs::path folder_ = fs::temp_directory_path() / ("espalier-listops-" + std::to_string(::getpid()));
};

void expect_same(const ListOpsScore& a, const ListOpsScore& b) {
  EXPECT_EQ(a.instances, b.instances);
  EXPECT_EQ(a.correct, b.correct);
  EXPECT_EQ(a.deep_instances, b.deep_instances);
  EXPECT_EQ(a.deep_correct, b.deep_correct);
  EXPECT_EQ(a.total_loss, b.total_loss);  // to the bit
}

TEST_F(LearnListOps, LowersTheLossAndBeatsTheMajorityBaseline) {
  const data::ListOpsSplit data = sets(1500, 300);
  ListOpsNet net({.embedding = 16, .hidden = 32}, 1);
  const ListOpsScore before = evaluate(net, data.held_out);
  const train::RunResult run = train_on(net, data.train, {.batch = 16, .learning_rate = 5e-3, .epochs = 4});
  const ListOpsScore after = evaluate(net, data.held_out);
  EXPECT_EQ(after.instances, 300);
  EXPECT_LT(run.history[3].loss, run.history[0].loss);
  EXPECT_GT(run.history[3].accuracy.value(), run.history[0].accuracy.value());
  EXPECT_LT(after.loss(), before.loss());
  EXPECT_GT(after.accuracy(), data::majority_baseline(data.held_out) + 0.1);
}

TEST_F(LearnListOps, SameSeedAndThreadCountGiveTheSameBits) {
  for (const int threads : {1, 2, 3}) EXPECT_TRUE(trained(threads, 1) == trained(threads, 1)) << threads << " threads";
  EXPECT_FALSE(trained(2, 1) == trained(2, 2));
}

TEST_F(LearnListOps, RecordingAheadDoesNotChangeABit) {
  for (const std::int32_t batch : {1, 2}) {
    const auto with = [&](int threads, train::RecordAhead ahead) {
      return trained(threads, {.batch = batch, .epochs = 2, .ahead = ahead});
    };
    const std::string alone = with(1, train::RecordAhead::kNever);
    EXPECT_TRUE(with(1, train::RecordAhead::kAlways) == alone) << batch;
    EXPECT_TRUE(with(2, train::RecordAhead::kAlways) == alone) << batch;
    EXPECT_TRUE(with(2, train::RecordAhead::kWherePays) == alone) << batch;
  }
}

TEST_F(LearnListOps, TheScoreDoesNotDependOnTheThreadCount) {
  const data::ListOpsSplit data = sets(1, 700);  // more than one part of the loop
  const ListOpsNet net(kSmall, 1);
  set_thread_count(1);
  const ListOpsScore alone = evaluate(net, data.held_out);
  EXPECT_EQ(alone.instances, 700);
  for (const int threads : {2, 5}) {
    set_thread_count(threads);
    expect_same(evaluate(net, data.held_out), alone);
  }
}

TEST_F(LearnListOps, SavedAndLoadedGivesTheSameScoreToTheBit) {
  const data::ListOpsSplit data = sets(200, 100);
  ListOpsNet net(kSmall, 1);
  train_on(net, data.train, {.epochs = 1});
  net.save(file("net"), {{"note", "kept"}});
  Metadata facts;
  const ListOpsNet loaded = ListOpsNet::load(file("net"), &facts);
  expect_same(evaluate(loaded, data.held_out), evaluate(net, data.held_out));
  EXPECT_EQ(loaded.sizes().hidden, kSmall.hidden);
  EXPECT_EQ(facts.at("note"), "kept");
  EXPECT_EQ(facts.at("task"), "listops");
}

TEST_F(LearnListOps, RefusesWeightsOfSomethingElse) {
  write_safetensors(file("other"), NamedTensors{{"W", Tensor({2})}}, {});
  EXPECT_EQ(refusal_of_loading(file("other")), file("other").string() + ": these are not weights of a ListOps model");
  write_safetensors(file("other"), NamedTensors{{"W", Tensor({2})}}, {{"task", "sentiment"}});
  EXPECT_EQ(refusal_of_loading(file("other")), file("other").string() + ": these are not weights of a ListOps model");
}

TEST_F(LearnListOps, RefusesWeightsWithoutTheirSizes) {
  for (const char* const hidden : {"", "0", "-3", "12x", "99999999999", "65537"}) {
    write_safetensors(file("other"), NamedTensors{{"W", Tensor({2})}},
                      {{"task", "listops"}, {"embedding", "8"}, {"hidden", hidden}});
    EXPECT_EQ(refusal_of_loading(file("other")),
              file("other").string() + ": its metadata lack a whole number 1 to 65536 named \"hidden\"");
  }
}

TEST_F(LearnListOps, RefusesWeightsThatLackAParameter) {
  write_safetensors(file("other"), NamedTensors{{"W", Tensor({2})}},
                    {{"task", "listops"}, {"embedding", "8"}, {"hidden", "16"}});
  EXPECT_THAT(refusal_of_loading(file("other")), ::testing::HasSubstr("words.table"));
  EXPECT_THROW(ListOpsNet::load(file("missing")), ResourceError);
}

TEST_F(LearnListOps, RefusesSizesThatAreNotThoseOfTheTensorsBeforeTakingMemoryForThem) {
  const NamedTensors tensors{{"words.table", Tensor({15, 8})}, {"classify.W", Tensor({16, 10})}};
  write_safetensors(file("other"), tensors, {{"task", "listops"}, {"embedding", "65536"}, {"hidden", "65536"}});
  EXPECT_EQ(
      refusal_of_loading(file("other")),
      file("other").string() + ": by its metadata \"words.table\" is [15, 65536], and the tensor there is [15, 8]");
  write_safetensors(file("other"), tensors, {{"task", "listops"}, {"embedding", "8"}, {"hidden", "65536"}});
  EXPECT_EQ(
      refusal_of_loading(file("other")),
      file("other").string() + ": by its metadata \"classify.W\" is [65536, 10], and the tensor there is [16, 10]");
}

}  // namespace
}  // namespace espalier::models
