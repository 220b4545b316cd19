/// What recording ahead brings (espalier/train/ahead.h): training steps on one instance at a time, of a Tree-LSTM on
/// generated ListOps trees, and of minibatches, against lanes.
///
/// All ways take turns, so that a machine that slows down slows all of them; given are medians of the rounds' ratios.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/data/listops.h"
#include "espalier/graph/graph.h"
#include "espalier/models/listops.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/sum.h"
#include "espalier/optim/sgd.h"
#include "espalier/train/ahead.h"
#include "espalier/train/lanes.h"

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Trains in several ways on the same minibatches.
class Trainings {
 public:
  Trainings(std::span<const data::Tree> trees, std::int32_t hidden, std::int64_t batch)
      : trees_(trees), batch_(batch), net_({.embedding = hidden, .hidden = hidden}), sgd_(net_.model(), {}) {
    sgd_.set_learning_rate(1e-3);
  }

  /// One graph, whose steps are divided among the threads.
  void one_graph(std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      graph_.clear();
      sgd_.minimise(loss(graph_, i * batch_, batch_));
    }
  }
  void lanes(std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      lanes_.run(batch_, [&](train::Lane& lane, std::int64_t begin, std::int64_t end) {
        loss(lane.graph, i * batch_ + begin, end - begin).backward({.into = &lane.gradients, .wanted = {}});
      });
      sgd_.step(lanes_.gradients_of_parts());
    }
  }
  void ahead(std::int64_t first, std::int64_t count) {
    ahead_.run(
        count, [&](Graph& graph, std::int64_t i) { return loss(graph, (first + i) * batch_, batch_); },
        [&](const Expr& loss, std::int64_t) { sgd_.minimise(loss); });
  }

 private:
  Expr loss(Graph& graph, std::int64_t first, std::int64_t count) const {
    std::vector<Expr> losses;
    for (std::int64_t i = first; i < first + count; ++i) {
      const data::Tree& tree = trees_[static_cast<std::size_t>(i) % trees_.size()];
      graph.begin_instance(static_cast<std::uint64_t>(i));
      losses.push_back(cross_entropy(net_(graph, tree), tree.label()));
    }
    return sum(losses);
  }

  std::span<const data::Tree> trees_;
  std::int64_t batch_;
  models::ListOpsNet net_;
  optim::Sgd sgd_;
  Graph graph_;
  train::Lanes lanes_;
  train::Ahead ahead_;
};

void measure(std::span<const data::Tree> trees, std::int32_t hidden, std::int64_t batch) {
  using Way = void (Trainings::*)(std::int64_t, std::int64_t);
  constexpr std::array<Way, 3> kWays{&Trainings::one_graph, &Trainings::lanes, &Trainings::ahead};
  constexpr int kRounds = 40;
  const std::int64_t steps = std::max<std::int64_t>(1, 200 / batch);
  Trainings trainings(trees, hidden, batch);
  std::array<std::vector<double>, kWays.size()> seconds;
  for (int round = -2; round < kRounds; ++round)
    for (std::size_t w = 0; w < kWays.size(); ++w) {
      const std::size_t way = (w + static_cast<std::size_t>(round + 2)) % kWays.size();
      const Clock::time_point start = Clock::now();
      (trainings.*kWays[way])((round + 2) * steps, steps);
      const double took = std::chrono::duration<double>(Clock::now() - start).count();
      if (round >= 0) seconds[way].push_back(took / static_cast<double>(steps));
    }
  std::vector<double> to_graph;
  std::vector<double> to_lanes;
  for (std::size_t r = 0; r < seconds[0].size(); ++r) {
    to_graph.push_back(seconds[0][r] / seconds[2][r]);
    to_lanes.push_back(seconds[1][r] / seconds[2][r]);
  }
  std::printf("%6d %6d | %9.1f %9.1f %9.1f | %9.3f %9.3f\n", hidden, static_cast<int>(batch),
              median_of(seconds[0]) * 1e6, median_of(seconds[1]) * 1e6, median_of(seconds[2]) * 1e6,
              median_of(to_graph), median_of(to_lanes));
}

}  // namespace
}  // namespace espalier

int main() {
  using namespace espalier;
  data::ListOpsOptions options;
  const data::ListOpsSplit sets = data::generate_listops_split(options, 4000, 1);
  std::printf("%d threads; microseconds a minibatch, and how many times as fast as the others recording ahead is\n",
              thread_count());
  std::printf("%6s %6s | %9s %9s %9s | %9s %9s\n", "hidden", "batch", "one graph", "lanes", "ahead", "one graph",
              "lanes");
  for (const std::int32_t hidden : {16, 48, 128})
    for (const std::int64_t batch : {1, 2, 4, 8, 32}) measure(sets.train, hidden, batch);
}
