/// What the Trainer adds to the engine: an epoch of B1 (a binary Tree-LSTM on sentiment trees, 300/150, batches of 64)
/// by the loop of `espalier bench`, and the same by train::Trainer. One thread; seconds of CPU time.
///
/// Both take turns and start from weights of their own; given are medians of the rounds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "bench/data/sets.h"
#include "bench/workloads/tree_lstm.h"
#include "espalier/base/threads.h"
#include "espalier/models/sentiment_net.h"
#include "espalier/train/trainer.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kBatch = 64;
constexpr int kRounds = 7;
constexpr std::int32_t kTrees = 2048;

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class F>
double seconds_of(const F& f) {
  const double start = cpu_seconds();
  f();
  return cpu_seconds() - start;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class SentimentTask final : public train::Task {
 public:
  SentimentTask(const models::SentimentNet& net, std::span<const BinaryTree> trees) : net_(net), trees_(trees) {}

  std::int64_t size(train::Split split) const override {
    return split == train::Split::kTrain ? std::ssize(trees_) : 0;
  }
  std::int64_t nodes(train::Split, std::int64_t i) const override { return std::ssize(tree(i).nodes); }
  Expr record(Graph& graph, train::Split, std::int64_t i, std::vector<Expr>&) const override {
    return net_.loss(graph, tree(i));
  }

 private:
  const BinaryTree& tree(std::int64_t i) const { return trees_[static_cast<std::size_t>(i)]; }

  const models::SentimentNet& net_;
  std::span<const BinaryTree> trees_;
};

void compare() {
  set_thread_count(1);
  const char* folder = std::getenv("ESPALIER_DATA");
  auto data = std::make_shared<DataSet<BinaryTree>>(sentiment_trees(folder == nullptr ? "" : folder));
  data->instances.resize(std::min<std::size_t>(data->instances.size(), kTrees));
  const auto trees = static_cast<std::int32_t>(data->instances.size());

  const std::unique_ptr<Runner> runner = tree_lstm_workload(data, {})->make(Variant::kRecursion, Leaves::kOnce);
  std::vector<std::int32_t> order(static_cast<std::size_t>(trees));
  std::iota(order.begin(), order.end(), 0);
  const auto by_loop = [&] {
    for (std::int32_t begin = 0; begin < trees; begin += kBatch)
      runner->train(std::span(order).subspan(static_cast<std::size_t>(begin),
                                             static_cast<std::size_t>(std::min(kBatch, trees - begin))));
  };

  Model model;
  const models::SentimentNet net(model, {.classes = data->labels, .embedding = 300, .hidden = 150, .dropout = 0},
                                 data->words, std::nullopt);
  const SentimentTask task(net, data->instances);
  const auto by_trainer = [&] {
    train::Trainer(
        model, task,
        {.epochs = 1, .shuffle = false, .batch = kBatch, .optimizer = "sgd(learning_rate=1e-5)", .evaluate_every = 0})
        .run();
  };

  by_loop();
  by_trainer();
  std::vector<double> loop;
  std::vector<double> trainer;
  for (int round = 0; round < kRounds; ++round) {
    loop.push_back(seconds_of(by_loop));
    trainer.push_back(seconds_of(by_trainer));
  }
  const auto print = [&](const char* name, double seconds) {
    std::printf("  %-16s %8.3f s %10.0f trees/s\n", name, seconds, trees / seconds);
  };
  std::printf("%d %s trees, medians of %d rounds:\n", trees, data->real ? "real" : "generated", kRounds);
  print("loop of bench", median(loop));
  print("Trainer", median(trainer));
  std::printf("  Trainer takes %.3f of the loop's time\n", median(trainer) / median(loop));
}

}  // namespace
}  // namespace espalier::bench

int main() { espalier::bench::compare(); }
