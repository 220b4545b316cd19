/// What the size of an embedding table costs: a minibatch of 100 words in a new graph, over tables of 10^4 to 5 x 10^6
/// rows. All times but that of making the table should be the same down a column.
#include <benchmark/benchmark.h>

#include "espalier/espalier.h"

namespace espalier {
namespace {

constexpr std::int32_t kDim = 64;
constexpr std::int32_t kUsed = 100;

/// A loss over kUsed rows, spread over the table.
Expr loss_of(Graph& graph, const nn::Embedding& words, std::int32_t rows) {
  std::vector<Expr> all;
  for (std::int32_t i = 0; i < kUsed; ++i) all.push_back(sum(tanh(words(graph, std::int64_t{i} * (rows / kUsed))), 0));
  return sum(all);
}

void make_table(benchmark::State& state) {
  for (auto _ : state) {
    Model model;
    const nn::Embedding words(model / "words", static_cast<std::int32_t>(state.range(0)), kDim);
    benchmark::DoNotOptimize(words);
  }
}

void forward(benchmark::State& state) {
  const auto rows = static_cast<std::int32_t>(state.range(0));
  Model model;
  const nn::Embedding words(model / "words", rows, kDim, {.init = init::zeros()});
  for (auto _ : state) {
    Graph graph;
    benchmark::DoNotOptimize(loss_of(graph, words, rows).scalar());
  }
}

void first_step(benchmark::State& state) {
  const auto rows = static_cast<std::int32_t>(state.range(0));
  Model model;
  const nn::Embedding words(model / "words", rows, kDim, {.init = init::zeros()});
  for (auto _ : state) {
    optim::Adam adam(model);
    Graph graph;
    loss_of(graph, words, rows).backward();
    adam.step();
  }
}

void later_step(benchmark::State& state) {
  const auto rows = static_cast<std::int32_t>(state.range(0));
  Model model;
  const nn::Embedding words(model / "words", rows, kDim, {.init = init::zeros()});
  optim::Adam adam(model);
  for (auto _ : state) {
    Graph graph;
    loss_of(graph, words, rows).backward();
    adam.step();
  }
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(10'000)->Arg(1'000'000)->Arg(5'000'000)->Unit(benchmark::kMicrosecond)->UseRealTime();
}
BENCHMARK(make_table)->Apply(sizes);
BENCHMARK(forward)->Apply(sizes);
BENCHMARK(first_step)->Apply(sizes);
BENCHMARK(later_step)->Apply(sizes);

}  // namespace
}  // namespace espalier

BENCHMARK_MAIN();
