#include "bench/workloads/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/limit/decoder.h"
#include "bench/suite/data_workload.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/models/parser_net.h"
#include "espalier/ops/all.h"

namespace espalier::bench {
namespace {

using RunAll = std::function<std::vector<double>(std::span<const std::int32_t> batch, const RunOptions& options)>;

/// Runs tasks: all instances of a minibatch at once, or one at a time.
class TaskRunner : public Runner {
 public:
  TaskRunner(RunAll run, bool one_by_one, Leaves leaves) : run_(std::move(run)), one_by_one_(one_by_one) {
    options_.graph.memoise = leaves == Leaves::kOnce ? Memoise::kLookups : Memoise::kOff;
  }

  BatchResult train(std::span<const std::int32_t>) override { throw UsageError("this workload does not train"); }
  BatchResult infer(std::span<const std::int32_t> batch) override {
    RunStatistics took;
    RunOptions options = options_;
    options.in_flight = one_by_one_ ? 1 : std::ssize(batch);
    options.lanes = std::min<std::int64_t>(thread_count(), std::ssize(batch));
    options.statistics = &took;
    const std::vector<double> sums = run_(batch, options);
    return {.loss = std::accumulate(sums.begin(), sums.end(), 0.0), .statistics = took.graphs};
  }
  std::vector<Gradient> gradients(std::span<const std::int32_t>) override {
    throw UsageError("this workload does not train");
  }
  void set_profiling(bool on) override { options_.graph.profile = on; }

 private:
  RunAll run_;
  bool one_by_one_;
  RunOptions options_;
};

bool runs_tasks(Variant variant) { return variant == Variant::kCells || variant == Variant::kUnbatched; }

/// A task for each of the instances.
template <class MakeTask>
RunAll run_each(TaggedSentences data, MakeTask make) {
  return [data = std::move(data), make = std::move(make)](std::span<const std::int32_t> batch,
                                                          const RunOptions& options) {
    return run_batched(
        batch, [&](Graph& graph, std::int32_t i) { return make(graph, data->instances[static_cast<std::size_t>(i)]); },
        options);
  };
}

/// A parser with random weights makes as many moves as a trained one.
struct ParsedSentences {
  ParsedSentences(TaggedSentences of, std::int32_t hidden)
      : net(model, {.embedding = hidden, .hidden = hidden, .layers = 2, .middle = hidden, .dropout = 0},
            {.words = of->words + 2, .affixes = {}, .labels = of->labels}) {
    for (const TaggedSentence& sentence : of->instances) {
      models::ParserSentence& parsed = sentences.emplace_back();
      parsed.words.push_back(of->words);
      parsed.words.insert(parsed.words.end(), sentence.words.begin(), sentence.words.end());
      parsed.words.push_back(of->words + 1);
    }
  }

  Task<double> sum_of_heads(Graph& graph, std::int32_t i) const {
    const models::Parse parse = co_await net.parse(graph, sentences[static_cast<std::size_t>(i)]);
    co_return std::accumulate(parse.heads.begin(), parse.heads.end(), 0.0);
  }

  Model model{1};
  models::ParserNet net;
  std::vector<models::ParserSentence> sentences;
};

class SentenceWorkload : public DataWorkload<TaggedSentence> {
 public:
  using DataWorkload::DataWorkload;
  std::int32_t nodes(std::int32_t number) const override {
    return static_cast<std::int32_t>(instance(number).words.size());
  }
};

class ParsingWorkload : public SentenceWorkload {
 public:
  ParsingWorkload(TaggedSentences data, std::int32_t hidden)
      : SentenceWorkload("B9", "greedy transition parsing", std::to_string(hidden), std::move(data)), hidden_(hidden) {}

  bool has_limit() const override { return false; }
  std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const override {
    if (!runs_tasks(variant)) return nullptr;
    auto parsed = std::make_shared<const ParsedSentences>(data(), hidden_);
    RunAll run = [parsed](std::span<const std::int32_t> batch, const RunOptions& options) {
      return run_batched(
          batch, [&](Graph& graph, std::int32_t i) { return parsed->sum_of_heads(graph, i); }, options);
    };
    return std::make_unique<TaskRunner>(std::move(run), variant == Variant::kUnbatched, leaves);
  }

 private:
  std::int32_t hidden_;
};

class DecodingWorkload : public SentenceWorkload {
 public:
  DecodingWorkload(TaggedSentences data, std::int32_t symbols, std::int32_t hidden)
      : SentenceWorkload("B10", "greedy decoding until the end symbol", fmt::format("{}/{}", symbols, hidden),
                         std::move(data)),
        symbols_(symbols),
        hidden_(hidden) {}

  bool has_limit() const override { return true; }
  std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const override {
    auto decoder = std::make_shared<const Decoder>(symbols_, hidden_);
    if (variant == Variant::kLimit) return std::make_unique<DecoderLimit>(data(), decoder->model);
    if (!runs_tasks(variant)) return nullptr;
    auto decode = [decoder](Graph& graph, const TaggedSentence& sentence) { return decoder->decode(graph, sentence); };
    return std::make_unique<TaskRunner>(run_each(data(), std::move(decode)), variant == Variant::kUnbatched, leaves);
  }

 private:
  std::int32_t symbols_;
  std::int32_t hidden_;
};

}  // namespace

Decoder::Decoder(std::int32_t symbol_count, std::int32_t hidden)
    : starts(model / "starts", kStarts, hidden),
      symbols(model / "symbols", symbol_count, hidden),
      cell(model / "cell", hidden, hidden),
      scores(model / "scores", hidden, symbol_count) {}

Task<double> Decoder::decode(Graph& graph, const TaggedSentence& sentence) const {
  auto state = cell.initial(graph);
  state.h = starts(graph, start_of(sentence));
  double sum = 0;
  std::int64_t symbol = kEnd;
  for (std::size_t made = 0; made < sentence.words.size(); ++made) {
    state = cell(symbols(graph, symbol), state);
    symbol = co_await argmax(scores(state.h));
    if (symbol == kEnd) break;
    sum += static_cast<double>(symbol);
  }
  co_return sum;
}

std::unique_ptr<Workload> parsing_workload(TaggedSentences data, std::int32_t hidden) {
  return std::make_unique<ParsingWorkload>(std::move(data), hidden);
}

std::unique_ptr<Workload> decoding_workload(TaggedSentences data, std::int32_t symbols, std::int32_t hidden) {
  return std::make_unique<DecodingWorkload>(std::move(data), symbols, hidden);
}

}  // namespace espalier::bench
