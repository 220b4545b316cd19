/// Statistics::peak_bytes is what a graph really takes.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "espalier/graph/graph.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ESPALIER_TEST_SANITIZED 1
#else
#define ESPALIER_TEST_SANITIZED 0
#endif

namespace espalier {
namespace {

/// A line of /proc/self/status, in bytes; 0 where there is none.
std::int64_t bytes_of_process(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return std::atoll(line.c_str() + name.size() + 1) * 1024;
  return 0;
}

Expr chain(Graph& graph, const nn::LstmCell& cell, std::int32_t width, int steps) {
  const Expr x = graph.constant({width}, 0.1);
  auto state = cell.initial(graph);
  for (int i = 0; i < steps; ++i) state = cell(x, state);
  return sum_elements(state.h);
}

/// Runs in a process of its own, in which nothing else took memory before. Exits with 0 if what the process took is
/// within 10 % of what the graph says. A short chain runs first, so that code and threads are there already.
void compare_with_process(const std::function<void(const Expr&)>& run, std::int32_t width) {
  Model model{1};
  const nn::LstmCell cell(model / "cell", width, width);
  {
    Graph graph;
    run(chain(graph, cell, width, 10));
  }
  const std::int64_t before = bytes_of_process("VmRSS");
  Graph graph;
  run(chain(graph, cell, width, 100'000));
  const auto taken = static_cast<double>(bytes_of_process("VmHWM") - before);
  const auto said = static_cast<double>(graph.statistics().peak_bytes);
  std::fprintf(stderr, "taken %.0f bytes, said %.0f\n", taken, said);
  std::exit(said > 0.9 * taken && said < 1.1 * taken ? 0 : 1);
}

class MemoryOfAChain : public ::testing::TestWithParam<std::int32_t> {
 protected:
  void SetUp() override {
    if (ESPALIER_TEST_SANITIZED != 0) GTEST_SKIP() << "a sanitizer takes memory of its own";
    if (bytes_of_process("VmHWM") == 0) GTEST_SKIP() << "this system does not say what a process takes";
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process
  }
};
INSTANTIATE_TEST_SUITE_P(Memory, MemoryOfAChain, ::testing::Values(16, 64));

TEST_P(MemoryOfAChain, ThatIsDifferentiatedIsWhatTheProcessTakes) {
  const auto run = [](const Expr& loss) { loss.backward(); };
  EXPECT_EXIT(compare_with_process(run, GetParam()), ::testing::ExitedWithCode(0), "taken");
}

TEST_P(MemoryOfAChain, ThatIsComputedIsWhatTheProcessTakes) {
  const auto run = [](const Expr& loss) { loss.value(); };
  EXPECT_EXIT(compare_with_process(run, GetParam()), ::testing::ExitedWithCode(0), "taken");
}

/// Records, plans, tables and what a backward pass notes: all but values and gradients.
TEST(Memory, OfAChainIsAtMost400BytesANodeBesideItsNumbers) {
  Model model{1};
  const nn::LstmCell cell(model / "cell", 4, 4);
  Graph graph;
  chain(graph, cell, 4, 20'000).backward();
  const Statistics statistics = graph.statistics();
  EXPECT_GE(graph.size(), 60'000);
  EXPECT_LE(statistics.peak_bytes - statistics.node_bytes, std::int64_t{400} * graph.size());
}

TEST(Memory, IsCountedAlikeInANewGraphAndInAClearedOne) {
  Model model{1};
  const nn::LstmCell cell(model / "cell", 8, 8);
  const auto peak_of = [&](Graph& graph, int steps) {
    auto state = cell.initial(graph);
    for (int i = 0; i < steps; ++i) state = cell(graph.constant({8}, 0.1), state);
    sum_elements(state.h).backward();
    return graph.statistics().peak_bytes;
  };
  Graph fresh;
  const std::int64_t expected = peak_of(fresh, 10);
  Graph graph;
  peak_of(graph, 1000);
  graph.clear();
  EXPECT_EQ(peak_of(graph, 10), expected);
}

}  // namespace
}  // namespace espalier
