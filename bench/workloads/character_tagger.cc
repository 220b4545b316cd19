/// B3: a tagger over words (Huang et al., 2015) that spells rare words (Ling et al., 2015), as benchmarked by Neubig et
/// al. (2017).
///
/// x_t is a word's row of a table; of a rare word, [last h forward, last h backward] of a BiLSTM over its characters.
/// scores_t = tanh([forward_t, backward_t] W_h + b_h) W_o + b_o, from a BiLSTM over x; cross-entropy at every word.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/models/tagger_net.h"

namespace espalier::bench {
namespace {

models::TaggerSettings character_settings(const EmbeddingAndHidden& sizes) {
  return {.embedding = sizes.embedding,
          .hidden = sizes.hidden,
          .middle = 32,
          .characters = "rare",
          .character_embedding = 20,
          .crf = false,
          .dropout = 0};
}

class CharacterTaggerNetwork : public Network {
 public:
  CharacterTaggerNetwork(SharedData<TaggedSentence> data, const EmbeddingAndHidden& sizes)
      : data_(std::move(data)),
        net_(model_, character_settings(sizes),
             {.words = data_->words, .characters = data_->characters, .tags = data_->labels}, std::nullopt,
             models::Form::kNodes) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(net_.loss(net_.scores(graph, at(instance)), at(instance).tags));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(net_.scores(graph, at(instance)));
  }

 private:
  const TaggedSentence& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  SharedData<TaggedSentence> data_;
  models::TaggerNet net_;
};

}  // namespace

std::unique_ptr<Network> character_tagger_network(SharedData<TaggedSentence> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<CharacterTaggerNetwork>(std::move(data), sizes);
}

std::unique_ptr<Workload> character_tagger_workload(SharedData<TaggedSentence> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<NetworkWorkload<TaggedSentence>>(
      "B3", "BiLSTM tagger that spells rare words", fmt::format("{}/{}", sizes.embedding, sizes.hidden),
      std::move(data), [](const TaggedSentence& sentence) { return sentence.words.size(); },
      [sizes](const SharedData<TaggedSentence>& shared) { return character_tagger_network(shared, sizes); });
}

}  // namespace espalier::bench
