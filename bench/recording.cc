/// What recording costs: nanoseconds a node, one thread. Budget (docs/design.md): 50 for maps.
#include <benchmark/benchmark.h>

#include <ctime>
#include <string>

#include "espalier/espalier.h"

namespace espalier {
namespace {

constexpr int kNodes = 100'000;

/// Records kNodes nodes by `step`, which takes an Expr and gives the next, on a graph that is cleared between rounds.
template <class Step>
void record(benchmark::State& state, const Step& step) {
  Graph graph;
  const std::clock_t start = std::clock();
  for (auto _ : state) {
    graph.clear();
    Expr x = graph.input(Tensor({64}));
    for (int i = 0; i < kNodes; ++i) x = step(x);
    benchmark::DoNotOptimize(x);
  }
  const double nanoseconds = 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  state.SetLabel(std::to_string(nanoseconds / static_cast<double>(state.iterations() * kNodes)) + " ns a node");
}

void unary_map(benchmark::State& state) {
  record(state, [](const Expr& x) { return tanh(x); });
}
BENCHMARK(unary_map)->Unit(benchmark::kMillisecond);

void binary_map(benchmark::State& state) {
  record(state, [](const Expr& x) { return x + x; });
}
BENCHMARK(binary_map)->Unit(benchmark::kMillisecond);

void map_with_field(benchmark::State& state) {
  record(state, [](const Expr& x) { return 0.5 * x; });
}
BENCHMARK(map_with_field)->Unit(benchmark::kMillisecond);

void linear_with_parameter(benchmark::State& state) {
  const Parameter W("W", Tensor({64, 64}));
  record(state, [&](const Expr& x) { return linear(x, W); });
}
BENCHMARK(linear_with_parameter)->Unit(benchmark::kMillisecond);

void sum_of_four(benchmark::State& state) {
  record(state, [](const Expr& x) { return sum({x, x, x, x}); });
}
BENCHMARK(sum_of_four)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier

BENCHMARK_MAIN();
