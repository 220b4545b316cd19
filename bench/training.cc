/// What a training step costs by strategy, and where its time goes: first of one small instance, where batching has
/// little to offer, then of minibatches of ListOps trees. One thread.
///
/// Strategies take turns, so that a machine that slows down slows all of them; given are medians.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/data/listops.h"
#include "espalier/exec/gradients.h"
#include "espalier/exec/run/plan_cache.h"
#include "espalier/models/listops.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/mlp.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/sum_axis.h"

namespace espalier {
namespace {

double cpu_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Measured {
  std::vector<double> seconds;
  Statistics last;
};

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// One instance of hidden size 8, `none` and `frontier` in turn, with and without the cache of plans.
void measure_small(const char* name, Model& model, const std::function<Expr(Graph&)>& record) {
  for (const bool cached : {true, false}) {
    exec::set_plan_cache_size(cached ? 256 : 0);
    Graph by_none({.strategy = Strategy::kNone});
    Graph by_frontier;
    const std::array<Graph*, 2> graphs{&by_none, &by_frontier};
    std::array<std::vector<double>, 2> seconds;
    for (int round = 0; round < 3000; ++round)
      for (std::size_t s = 0; s < 2; ++s) {
        const double start = cpu_seconds();
        graphs[s]->clear();
        model.gradients().clear();
        graphs[s]->begin_instance(0);
        record(*graphs[s]).backward();
        seconds[s].push_back(cpu_seconds() - start);
      }
    const double none = median_of(seconds[0]);
    const double frontier = median_of(seconds[1]);
    std::printf("%-24s plans %-10s none %6.2f us, frontier %6.2f us: %.3f times\n", name,
                cached ? "cached," : "made new,", none * 1e6, frontier * 1e6, frontier / none);
  }
  exec::set_plan_cache_size(256);
}

void measure_small_instances() {
  Model model(1);
  const nn::Mlp mlp(model / "mlp", {8, 8, 1});
  const nn::LstmCell lstm(model / "lstm", 8, 8);
  const nn::BinaryTreeLstm tree(model / "tree", 8, 8);
  const std::vector<float> numbers(8, 0.3F);
  const auto leaf = [&](Graph& graph) { return tree.leaf(graph.input({8}, numbers)); };
  measure_small("perceptron", model, [&](Graph& graph) { return sum(mlp(graph.input({8}, numbers)), 0); });
  measure_small("LSTM over 3 inputs", model, [&](Graph& graph) {
    auto state = lstm.initial(graph);
    for (int i = 0; i < 3; ++i) state = lstm(graph.input({8}, numbers), state);
    return sum(state.h, 0);
  });
  measure_small("LSTM over 20 inputs", model, [&](Graph& graph) {
    auto state = lstm.initial(graph);
    for (int i = 0; i < 20; ++i) state = lstm(graph.input({8}, numbers), state);
    return sum(state.h, 0);
  });
  measure_small("tree of 3 leaves", model,
                [&](Graph& graph) { return sum(tree(tree(leaf(graph), leaf(graph)), leaf(graph)).h, 0); });
}

void measure(const models::ListOpsNet& net, std::span<const data::Tree> trees, std::size_t batch, int rounds) {
  constexpr std::array kStrategies{Strategy::kNone, Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier};
  std::array<Measured, kStrategies.size()> measured;
  std::vector<std::unique_ptr<Graph>> graphs;
  for (const Strategy strategy : kStrategies)
    graphs.push_back(std::make_unique<Graph>(GraphOptions{.strategy = strategy, .profile = true}));
  Gradients gradients;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t s = 0; s < kStrategies.size(); ++s) {
      Graph& graph = *graphs[s];
      const double start = cpu_seconds();
      graph.clear();
      gradients.clear();
      std::vector<Expr> losses;
      for (std::size_t i = 0; i < batch; ++i) {
        const data::Tree& tree = trees[(static_cast<std::size_t>(round) * batch + i) % trees.size()];
        graph.begin_instance(i);
        losses.push_back(cross_entropy(net(graph, tree), tree.label()));
      }
      sum(losses).backward({.into = &gradients, .wanted = {}});
      measured[s].seconds.push_back(cpu_seconds() - start);
      measured[s].last = graph.statistics();
    }
  std::printf("batch %zu, hidden %d\n", batch, net.sizes().hidden);
  std::printf("  %-9s %10s %9s %9s %7s %7s %9s | last step, us: %9s %9s %9s %9s %9s %9s %9s\n", "strategy", "trees/s",
              "us/step", "ns/node", "steps", "bound", "KB copied", "record", "schedule", "plan", "forward", "backward",
              "products", "maps");
  for (std::size_t s = 0; s < kStrategies.size(); ++s) {
    const double median = median_of(measured[s].seconds);
    const Statistics& last = measured[s].last;
    const std::int64_t recorded = last.nodes + last.views + last.merged;
    std::printf(
        "  %-9s %10.0f %9.0f %9.0f %7ld %7ld %9.1f |                %9.0f %9.0f %9.0f %9.0f %9.0f %9.0f %9.0f\n",
        std::string(name_of(kStrategies[s])).c_str(), static_cast<double>(batch) / median, median * 1e6,
        median * 1e9 / static_cast<double>(recorded), static_cast<long>(last.steps), static_cast<long>(last.bound),
        static_cast<double>(last.bytes_copied) / 1024, last.seconds.recording * 1e6, last.seconds.scheduling * 1e6,
        last.seconds.planning * 1e6, last.seconds.forward * 1e6, last.seconds.backward * 1e6,
        last.seconds.products * 1e6, last.seconds.maps * 1e6);
    if (s + 1 == kStrategies.size())
      std::printf("  %ld nodes recorded: %ld ran, %ld views, %ld merged; peak %.1f MB\n", static_cast<long>(recorded),
                  static_cast<long>(last.nodes), static_cast<long>(last.views), static_cast<long>(last.merged),
                  static_cast<double>(last.peak_bytes) / 1048576);
  }
}

}  // namespace
}  // namespace espalier

int main() {
  using namespace espalier;
  set_thread_count(1);
  measure_small_instances();
  const std::vector<data::Tree> trees = data::generate_listops({.seed = 1}, 2000);
  for (const std::int32_t hidden : {64, 128}) {
    const models::ListOpsNet net({.embedding = 32, .hidden = hidden});
    for (const std::size_t batch : {1, 16, 64}) measure(net, trees, batch, batch == 1 ? 200 : 20);
  }
}
