/// What scheduling costs: nanoseconds a node, by strategy and size, on minibatches of trees with a cell and a head a
/// node.
#include <benchmark/benchmark.h>

#include <ctime>
#include <string>

#include "espalier/base/random.h"
#include "espalier/batch/schedule.h"
#include "tests/batch/small_graph.h"

namespace espalier::batch {
namespace {

void trees(benchmark::State& state, Strategy strategy) {
  Random random(1);
  // A tree of 19 leaves has 37 nodes, and a head each.
  const SmallGraph graph = random_treebank(random, static_cast<int>(state.range(0) / 74));
  const Graph view = graph.view();
  std::int64_t steps = 0;
  std::int64_t bound = 0;
  const std::clock_t start = std::clock();
  for (auto _ : state) {
    const Schedule made = schedule(strategy, view);
    steps = made.steps();
    bound = made.bound;
  }
  const double nanoseconds = 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  state.SetLabel(std::to_string(nanoseconds / static_cast<double>(state.iterations() * graph.size())) + " ns a node, " +
                 std::to_string(graph.size()) + " nodes, " + std::to_string(steps) + " steps, bound " +
                 std::to_string(bound));
}

void depth(benchmark::State& state) { trees(state, Strategy::kDepth); }
void agenda(benchmark::State& state) { trees(state, Strategy::kAgenda); }
void frontier(benchmark::State& state) { trees(state, Strategy::kFrontier); }

BENCHMARK(depth)->RangeMultiplier(10)->Range(1000, 1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(agenda)->RangeMultiplier(10)->Range(1000, 1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(frontier)->RangeMultiplier(10)->Range(1000, 1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier::batch

BENCHMARK_MAIN();
