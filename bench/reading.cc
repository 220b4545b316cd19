/// How fast one thread reads files: megabytes of text per second of CPU time, from memory. The text is that of
/// sst/train.txt in ESPALIER_DATA, repeated, or generated trees of the same statistics.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "espalier/base/random.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/treebank.h"

namespace espalier {
namespace {

constexpr int kRepeats = 10;

void add_tree(std::string& text, Random& random, std::int64_t leaves) {
  text += "(2 ";
  if (leaves == 1) {
    text.append(static_cast<std::size_t>(1 + random.below(8)), 'w');
  } else {
    const std::int64_t left = 1 + static_cast<std::int64_t>(random.below(leaves - 1));
    add_tree(text, random, left);
    text += ' ';
    add_tree(text, random, leaves - left);
  }
  text += ')';
}

/// Lines of trees, some 20 MB.
const std::string& trees() {
  static const std::string text = [] {
    std::string once;
    if (const char* folder = std::getenv("ESPALIER_DATA")) {
      data::LineReader lines(std::string(folder) + "/sst/train.txt");
      for (std::string_view line; lines.next(line);) (once += line) += '\n';
    } else {
      Random random(1);
      for (int tree = 0; tree < 8544; ++tree) {
        add_tree(once, random, 1 + static_cast<std::int64_t>(random.below(37)));
        once += '\n';
      }
    }
    std::string all;
    for (int repeat = 0; repeat < kRepeats; ++repeat) all += once;
    return all;
  }();
  return text;
}

void read_lines(benchmark::State& state) {
  for (auto _ : state) {
    data::LineReader lines(data::Input::text(trees()));
    std::size_t bytes = 0;
    for (std::string_view line; lines.next(line);) bytes += line.size();
    benchmark::DoNotOptimize(bytes);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(trees().size()));
}

void read_sentiment_trees(benchmark::State& state) {
  for (auto _ : state) {
    data::TreebankReader reader(data::Input::text(trees()), {.labels = 5, .binary = true});
    for (data::LabelledTree tree; reader.next(tree);) benchmark::DoNotOptimize(tree);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(trees().size()));
}

BENCHMARK(read_lines)->Unit(benchmark::kMillisecond);
BENCHMARK(read_sentiment_trees)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier

BENCHMARK_MAIN();
