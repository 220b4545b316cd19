/// The limit by itself: how fast the programs written by hand are, and where their time goes.
///
///   build/release/bench/limit --workload B1 --sizes 300/150 --batch 64 --mode train --threads 1 --data DIR
#include "bench/limit/measure.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/data/sets.h"
#include "bench/workloads/fold_tree.h"
#include "bench/workloads/plan_net.h"
#include "bench/workloads/tagger.h"
#include "bench/workloads/tree_lstm.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kFoldTrees = 256;

struct Options {
  std::string workload = "B1";
  std::string sizes;
  std::string shape = "random";
  std::string data;
  std::vector<std::int32_t> batches{1, 16, 64};
  std::string mode = "train";
  int threads = 1;
  bool dedupe = false;
  int rounds = 5;
  double seconds = 5;
};

/// "300/150" as two numbers; the second, and where it is empty both, may be left to `otherwise`.
std::pair<std::int32_t, std::int32_t> parse_sizes(const std::string& text,
                                                  const std::pair<std::int32_t, std::int32_t>& otherwise) {
  if (text.empty()) return otherwise;
  const std::size_t slash = text.find('/');
  const auto number = [&](const std::string& digits) {
    std::size_t used = 0;
    int value = 0;
    try {
      value = std::stoi(digits, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != digits.size() || value < 1)
      throw UsageError(fmt::format("--sizes: \"{}\" is not a number above 0, or two with a slash between", text));
    return value;
  };
  if (slash == std::string::npos) return {number(text), otherwise.second};
  return {number(text.substr(0, slash)), number(text.substr(slash + 1))};
}

std::unique_ptr<Workload> make_workload(const Options& options) {
  if (options.workload == "B1") {
    const auto [embedding, hidden] = parse_sizes(options.sizes, {300, 150});
    return tree_lstm_workload(std::make_shared<const DataSet<BinaryTree>>(sentiment_trees(options.data)),
                              {.embedding = embedding, .hidden = hidden});
  }
  if (options.workload == "B0") {
    const auto shape = options.shape == "random"     ? TreeShape::kRandom
                       : options.shape == "balanced" ? TreeShape::kBalanced
                                                     : TreeShape::kChain;
    return fold_tree_workload(std::make_shared<const DataSet<BinaryTree>>(fold_trees(shape, kFoldTrees)), shape,
                              parse_sizes(options.sizes, {1024, 0}).first);
  }
  if (options.workload == "B2") {
    const auto [embedding, hidden] = parse_sizes(options.sizes, {128, 64});
    return tagger_workload(std::make_shared<const DataSet<TaggedSentence>>(tagged_sentences(options.data)),
                           {.embedding = embedding, .hidden = hidden});
  }
  if (options.workload == "B7")
    return plan_net_workload(std::make_shared<const DataSet<QueryPlan>>(query_plans(options.data)),
                             parse_sizes(options.sizes, {32, 0}).first);
  throw UsageError(
      fmt::format("--workload: there is no limit of \"{}\"; there are B0, B1, B2 and B7", options.workload));
}

/// Instances drawn without putting back, the same for every run.
std::vector<std::vector<std::int32_t>> draw_batches(std::int32_t instances, std::int32_t batch, int count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(instances));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::vector<std::int32_t>> batches(static_cast<std::size_t>(count));
  std::size_t next = 0;
  for (std::vector<std::int32_t>& one : batches)
    for (std::int32_t i = 0; i < batch; ++i) one.push_back(order[next++ % order.size()]);
  return batches;
}

void print(const Workload& workload, const Options& options, std::int32_t batch, const LimitFigures& figures) {
  std::string parts;
  constexpr std::array kNames{"layout", "products", "loops", "update", "preparation"};
  for (std::size_t part = 0; part < kParts; ++part)
    parts += fmt::format("  {} {:.1f} %", kNames[part], 100 * figures.shares[part]);
  fmt::print("{} {} {}{} batch {}, {} thread{}, {} data: {:.0f} instances/s, {:.1f} GFLOP/s\n", workload.name(),
             workload.sizes(), options.mode, options.dedupe ? ", equal leaves once," : ",", batch, options.threads,
             options.threads == 1 ? "" : "s", workload.is_real_data() ? "real" : "generated",
             figures.instances_per_second, figures.gflops);
  fmt::print("   time: {}\n   products run at {:.1f} GFLOP/s", parts, figures.product_gflops);
  if (options.threads == 1) fmt::print(", {:.1f} % of the same timed alone", 100 * figures.product_efficiency);
  fmt::print("\n");
  std::fflush(stdout);
}

void run(const Options& options) {
  set_thread_count(options.threads);
  const std::unique_ptr<Workload> workload = make_workload(options);
  const Mode mode = options.mode == "train" ? Mode::kTrain : Mode::kInfer;
  for (const std::int32_t batch : options.batches) {
    const std::unique_ptr<Runner> runner =
        workload->make(options.dedupe ? Variant::kLimitDedupe : Variant::kLimit, Leaves::kEach);
    const int count = std::clamp(256 / batch, 2, 64);
    print(*workload, options, batch,
          measure_limit(dynamic_cast<LimitRunner&>(*runner), draw_batches(workload->instances(), batch, count), mode,
                        options.rounds, options.seconds));
  }
}

}  // namespace
}  // namespace espalier::bench

int main(int argc, char** argv) {
  espalier::bench::Options options;
  if (const char* folder = std::getenv("ESPALIER_DATA")) options.data = folder;
  CLI::App app("How fast the workloads run when written by hand for whole minibatches, and where the time goes.");
  app.add_option("--workload", options.workload, "B0, B1, B2 or B7")->capture_default_str();
  app.add_option("--sizes", options.sizes, "as 300/150: embedding and hidden; of B0 and B7 the state alone");
  app.add_option("--shape", options.shape, "of the trees of B0")
      ->check(CLI::IsMember({"random", "balanced", "chain"}))
      ->capture_default_str();
  app.add_option("--batch", options.batches, "instances in a minibatch; one or more numbers")->capture_default_str();
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"train", "infer"}))->capture_default_str();
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_flag("--dedupe", options.dedupe, "equal leaves are computed once");
  app.add_option("--data", options.data, "folder of data sets; without it, or ESPALIER_DATA, data are generated");
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--seconds", options.seconds, "that a size of minibatch may take, about")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    espalier::bench::run(options);
  } catch (const espalier::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
