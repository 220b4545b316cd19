#include "bench/workloads/tagger.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "bench/limit/tagger.h"
#include "bench/suite/data_workload.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/network.h"
#include "espalier/base/threads.h"
#include "espalier/cells/cell.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/tanh.h"

namespace espalier::bench {
namespace {

using TaggedSentences = std::shared_ptr<const DataSet<TaggedSentence>>;

class TaggerNetwork : public Network {
 public:
  /// In one graph the directions, each of which is a recursion, keep two threads busy, with larger products. `least` is
  /// how many sentences a thread needs, where there are two, for a graph of its own to pay.
  TaggerNetwork(TaggedSentences data, const TaggerSizes& sizes, std::int64_t least)
      : least_(least),
        data_(std::move(data)),
        words_(model_ / "words", data_->words, sizes.embedding),
        lstm_(model_ / "lstm", sizes.embedding, sizes.hidden),
        middle_(model_ / "middle", 2 * sizes.hidden, sizes.middle),
        classify_(model_ / "classify", sizes.middle, data_->labels) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    const TaggedSentence& sentence = data_->instances[static_cast<std::size_t>(instance)];
    losses.push_back(cross_entropy_each(scores_(encode(graph, sentence)), sentence.tags));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(scores_(encode(graph, data_->instances[static_cast<std::size_t>(instance)])));
  }

  std::int64_t least_in_lane() const override { return thread_count() == 2 ? least_ : 1; }

 protected:
  std::int64_t least_;
  TaggedSentences data_;
  nn::Embedding words_;
  nn::BiLstm lstm_;
  nn::Linear middle_;
  nn::Linear classify_;
  Cell<Expr(Expr)> scores_{"scores", [this](Expr state) { return classify_(tanh(middle_(state))); }};

 private:
  /// A row for each word.
  Expr encode(Graph& graph, const TaggedSentence& sentence) const {
    thread_local std::vector<Expr> x;  // of one instance; its memory serves the next
    x.clear();
    for (const std::int32_t word : sentence.words) x.push_back(words_(graph, word));
    return rows(lstm_(x));
  }
};

/// The same with a node for all words of a sentence.
class TaggerRecursion : public TaggerNetwork {
 public:
  using TaggerNetwork::TaggerNetwork;

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    const TaggedSentence& sentence = data_->instances[static_cast<std::size_t>(instance)];
    losses.push_back(cross_entropy_each(scores(graph, sentence), sentence.tags));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(scores(graph, data_->instances[static_cast<std::size_t>(instance)]));
  }

 private:
  Expr scores(Graph& graph, const TaggedSentence& sentence) const {
    return scores_(lstm_.rows(words_.each(graph, sentence.words)));
  }
};

class TaggerWorkload : public DataWorkload<TaggedSentence> {
 public:
  TaggerWorkload(TaggedSentences data, const TaggerSizes& sizes)
      : DataWorkload("B2", "BiLSTM tagger", fmt::format("{}/{}", sizes.embedding, sizes.hidden), std::move(data)),
        sizes_(sizes) {}

  std::int32_t nodes(std::int32_t number) const override {
    return static_cast<std::int32_t>(instance(number).words.size());
  }
  bool has_limit() const override { return true; }

  std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const override {
    std::unique_ptr<Network> network;
    if (variant == Variant::kRecursion)
      network = std::make_unique<TaggerRecursion>(data(), sizes_, /*least=*/16);
    else
      network = std::make_unique<TaggerNetwork>(data(), sizes_, /*least=*/variant == Variant::kCells ? 8 : 1);
    if (variant == Variant::kLimit || variant == Variant::kLimitDedupe)
      return std::make_unique<TaggerLimit>(data(), network->model(), variant == Variant::kLimitDedupe);
    return make_espalier_runner(std::move(network), *this, variant, leaves);
  }

 private:
  TaggerSizes sizes_;
};

}  // namespace

std::unique_ptr<Workload> tagger_workload(TaggedSentences data, const TaggerSizes& sizes) {
  return std::make_unique<TaggerWorkload>(std::move(data), sizes);
}

}  // namespace espalier::bench
