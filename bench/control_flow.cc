/// What control flow on computed values costs: time per token up to a million tokens, memory of long streams, instances
/// together and one by one, with rows per step and the time outside kernels, and the driver alone. One thread.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "bench/data/sets.h"
#include "bench/workloads/tasks.h"
#include "espalier/base/threads.h"
#include "espalier/control/run_batched.h"
#include "espalier/ops/all.h"

namespace espalier::bench {
namespace {

/// The processor's time of this thread: what other programs do meanwhile does not count.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_since(double start) { return now() - start; }

/// Draws symbols; prints the time per token since the last mark.
Task<> decode_long(const Decoder& decoder, Graph& graph, std::int64_t tokens, bool carries) {
  Graph* g = &graph;
  auto state = decoder.cell.initial(*g);
  std::int64_t symbol = 1;
  std::int64_t before = 0;
  std::int64_t mark = 1000;
  double start = now();
  for (std::int64_t i = 1; i <= tokens; ++i) {
    if (carries) g = &co_await carry(state.h, state.c);
    state = decoder.cell(decoder.symbols(*g, symbol), state);
    symbol = co_await sample(decoder.scores(state.h));
    if (i != mark) continue;
    std::printf("  up to %8lld tokens: %6.2f us per token\n", static_cast<long long>(mark),
                1e6 * seconds_since(start) / static_cast<double>(i - before));
    before = i;
    mark *= 10;
    start = now();
  }
}

void show_long_decoding() {
  const Decoder decoder(100, 32);
  for (const bool carries : {false, true}) {
    std::printf("one sequence, hidden size 32, 100 symbols%s\n", carries ? ", with carry()" : "");
    RunStatistics took;
    run_batched(std::vector<std::int64_t>{1'000'000},
                [&](Graph& g, std::int64_t tokens) { return decode_long(decoder, g, tokens, carries); },
                {.statistics = &took});
    std::printf("  peak %.1f MB\n", static_cast<double>(took.graphs.peak_bytes) / 1e6);
  }
}

/// As Decoder::decode(), leaving each graph when it is no longer the newest.
Task<double> decode_and_carry(const Decoder& decoder, Graph& graph, const TaggedSentence& sentence) {
  Graph* g = &graph;
  auto state = decoder.cell.initial(*g);
  state.h = decoder.starts(*g, Decoder::start_of(sentence));
  double sum = 0;
  std::int64_t symbol = Decoder::kEnd;
  for (std::size_t made = 0; made < sentence.words.size(); ++made) {
    g = &co_await carry(state.h, state.c);
    state = decoder.cell(decoder.symbols(*g, symbol), state);
    symbol = co_await argmax(decoder.scores(state.h));
    if (symbol == Decoder::kEnd) break;
    sum += static_cast<double>(symbol);
  }
  co_return sum;
}

void show_stream(const std::vector<TaggedSentence>& sentences, bool carries) {
  const Decoder decoder(100, 32);
  std::printf("stream of sentences%s\n", carries ? ", with carry()" : "");
  for (const std::int64_t instances : {1000, 100'000}) {
    std::int64_t next = 0;
    std::int64_t ended = 0;
    RunStatistics took;
    const double start = now();
    stream_batched(
        [&]() -> std::optional<std::int64_t> { return next == instances ? std::nullopt : std::optional(next++); },
        [&](Graph& g, std::int64_t i) {
          const TaggedSentence& sentence = sentences[static_cast<std::size_t>(i) % sentences.size()];
          return carries ? decode_and_carry(decoder, g, sentence) : decoder.decode(g, sentence);
        },
        [&](std::int64_t, const Outcome<double>& outcome) { ended += outcome.ok() ? 1 : 0; }, {.statistics = &took});
    std::printf("  %lld instances, %lld in flight: peak %.2f MB, %lld graphs, %.1f rows per step, %.0f per s\n",
                static_cast<long long>(ended), static_cast<long long>(took.most_in_flight),
                static_cast<double>(took.graphs.peak_bytes) / 1e6, static_cast<long long>(took.graphs_used),
                took.graphs.rows_a_step(), static_cast<double>(ended) / seconds_since(start));
  }
}

/// The fastest of some rounds.
double best_seconds(Runner& runner, const std::vector<std::int32_t>& batch) {
  constexpr int kRounds = 15;
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now();
    runner.infer(batch);
    best = std::min(best, seconds_since(start));
  }
  return best;
}

void show_batching(const Workload& workload) {
  std::vector<std::int32_t> batch(64);
  std::iota(batch.begin(), batch.end(), 0);
  const auto run = [&](Variant variant) {
    const std::unique_ptr<Runner> runner = workload.make(variant, Leaves::kOnce);
    const double seconds = best_seconds(*runner, batch);
    runner->set_profiling(true);
    // Kernels are timed by the clock on the wall, and so is the whole here.
    const auto start = std::chrono::steady_clock::now();
    const Statistics took = runner->infer(batch).statistics;
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double kernels = took.seconds.copying + took.seconds.products + took.seconds.maps;
    std::printf("  %-10s %8.2f ms, %6.1f rows per step, %2.0f %% of the time outside kernels\n",
                variant == Variant::kCells ? "together" : "one by one", 1e3 * seconds, took.rows_a_step(),
                100 * (1 - kernels / all));
    return seconds;
  };
  std::printf("%s, %s, 64 instances\n", std::string(workload.title()).c_str(), workload.sizes().c_str());
  const double alone = run(Variant::kUnbatched);
  const double together = run(Variant::kCells);
  std::printf("  together %.1f times as fast", alone / together);
  if (workload.has_limit()) {
    const double limit = best_seconds(*workload.make(Variant::kLimit, Leaves::kEach), batch);
    std::printf("; batched by hand %.2f ms: %.2f of its speed", 1e3 * limit, limit / together);
  }
  std::printf("\n");
}

/// So many sentences with others that follow those which end.
void show_refilled(const std::vector<TaggedSentence>& sentences, std::int32_t symbols, std::int32_t hidden) {
  const Decoder decoder(symbols, hidden);
  double alone = 0;
  std::printf("greedy decoding, %d/%d, %zu sentences, with carry()\n", symbols, hidden, sentences.size());
  for (const std::int64_t in_flight : {1, 16, 64, 256}) {
    RunStatistics took;
    const double start = now();
    run_batched(sentences,
                [&](Graph& g, const TaggedSentence& sentence) { return decode_and_carry(decoder, g, sentence); },
                {.in_flight = in_flight, .statistics = &took});
    const double per_token = seconds_since(start) / static_cast<double>(took.values - took.carried);
    if (in_flight == 1) alone = per_token;
    std::printf("  %3lld in flight: %6.2f us per token, %5.1f rows per step, %.1f times as fast as one by one\n",
                static_cast<long long>(in_flight), 1e6 * per_token, took.graphs.rows_a_step(), alone / per_token);
  }
}

Task<double> nested(Expr value, int depth) {
  if (depth > 0) co_return co_await nested(value, depth - 1);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += co_await number(value);
  co_return sum;
}

void show_driver() {
  Graph graph({.training = false});
  const Expr value = graph.constant(1);
  value.value();
  const double start = now();
  constexpr int kInstances = 256;
  run_batched(graph, std::vector<int>(kInstances), [&](Graph&, int) { return nested(value, 256); });
  std::printf("256 instances of 256 nested tasks, values that are there: %.0f ns per value asked\n",
              1e9 * seconds_since(start) / (kInstances * 1000.0));
}

void run() {
  set_thread_count(1);
  const auto data = std::make_shared<const DataSet<TaggedSentence>>(tagged_sentences({}, {.count = 2000, .seed = 1}));
  show_driver();
  show_batching(*parsing_workload(data, 128));
  show_batching(*decoding_workload(data, 1000, 128));
  show_refilled(data->instances, 1000, 128);
  show_refilled(data->instances, 100, 32);
  for (const bool carries : {false, true}) show_stream(data->instances, carries);
  show_long_decoding();
}

}  // namespace
}  // namespace espalier::bench

int main() { espalier::bench::run(); }
