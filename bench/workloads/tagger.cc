#include "bench/workloads/tagger.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "bench/limit/tagger.h"
#include "bench/suite/data_workload.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/network.h"
#include "espalier/base/threads.h"
#include "espalier/models/tagger_net.h"

namespace espalier::bench {
namespace {

using TaggedSentences = std::shared_ptr<const DataSet<TaggedSentence>>;

models::TaggerSettings tagger_settings(const TaggerSizes& sizes) {
  return {.embedding = sizes.embedding,
          .hidden = sizes.hidden,
          .middle = sizes.middle,
          .characters = "none",
          .crf = false,
          .dropout = 0};
}

class TaggerNetwork : public Network {
 public:
  /// In one graph the directions, each of which is a recursion, keep two threads busy, with larger products. `least` is
  /// how many sentences a thread needs, where there are two, for a graph of its own to pay.
  TaggerNetwork(TaggedSentences data, const TaggerSizes& sizes, models::Form form, std::int64_t least)
      : least_(least),
        data_(std::move(data)),
        net_(model_, tagger_settings(sizes), {.words = data_->words, .tags = data_->labels}, std::nullopt, form) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(net_.loss(net_.scores(graph, at(instance)), at(instance).tags));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(net_.scores(graph, at(instance)));
  }
  std::int64_t least_in_lane() const override { return thread_count() == 2 ? least_ : 1; }

 private:
  const TaggedSentence& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  std::int64_t least_;
  TaggedSentences data_;
  models::TaggerNet net_;
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
    const bool rows = variant == Variant::kRecursion;
    const std::int64_t least = rows ? 16 : (variant == Variant::kCells ? 8 : 1);
    auto network =
        std::make_unique<TaggerNetwork>(data(), sizes_, rows ? models::Form::kRows : models::Form::kNodes, least);
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
