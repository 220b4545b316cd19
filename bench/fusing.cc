/// What running steps together gains (GraphOptions::fusing): gated recurrent units written op by op, a few steps in
/// time over many sequences, with pieces of 64 rows and each step by itself. One thread.
///
/// Both take turns, so that a machine that slows down slows both; given are medians, and the median of their ratios.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/espalier.h"

namespace espalier {
namespace {

constexpr int kRounds = 41;
constexpr int kTimes = 4;

/// z = sigmoid(x Wz + h Uz), r likewise, h' = (1 - z) h + z tanh(x Wh + (r h) Uh).
struct Unit {
  explicit Unit(std::int32_t size)
      : input(model / "input", size, size),
        update(model / "update", size, size),
        reset(model / "reset", size, size),
        state(model / "state", size, size) {}

  Expr operator()(const Expr& x, const Expr& h) const {
    const Expr z = sigmoid(input(x) + update(h));
    const Expr r = sigmoid(input(x) + reset(h));
    return (1 - z) * h + z * tanh(input(x) + state(r * h));
  }

  Model model;
  nn::Linear input, update, reset, state;
};

double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

void measure(std::int32_t size, std::int32_t sequences, bool trains) {
  Unit unit(size);
  std::array<Graph, 2> graphs{Graph({.fusing = {.rows = 0}}), Graph()};
  std::array<std::vector<double>, 2> seconds;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      Graph& graph = graphs[g];
      graph.clear();
      unit.model.gradients().clear();
      std::vector<Expr> last;
      for (std::int32_t s = 0; s < sequences; ++s) {
        Expr h = graph.input(Tensor({size}));
        for (int t = 0; t < kTimes; ++t)
          h = unit(
              graph.input({size}, std::vector<float>(static_cast<std::size_t>(size), 0.01F * static_cast<float>(s))),
              h);
        last.push_back(trains ? sum(h, 0) : h);
      }
      const auto start = std::chrono::steady_clock::now();
      if (trains)
        sum(last).backward();
      else
        graph.finish(last);
      seconds[g].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    ratios.push_back(seconds[0].back() / seconds[1].back());
  }
  std::printf(
      "  size %4d, %4d sequences, %-9s  by itself %8.0f us   together %8.0f us   ratio %.3f   %ld of %ld steps\n", size,
      sequences, trains ? "training" : "inference", 1e6 * median_of(seconds[0]), 1e6 * median_of(seconds[1]),
      median_of(ratios), static_cast<long>(graphs[1].statistics().fused),
      static_cast<long>(graphs[1].statistics().steps));
}

}  // namespace
}  // namespace espalier

int main() {
  espalier::set_thread_count(1);
  for (const std::int32_t size : {64, 150, 300})
    for (const std::int32_t sequences : {128, 512})
      for (const bool trains : {true, false}) espalier::measure(size, sequences, trains);
}
