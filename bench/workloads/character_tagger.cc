/// B3: a tagger over words (Huang et al., 2015) that spells rare words (Ling et al., 2015), as benchmarked by Neubig et
/// al. (2017).
///
/// x_t is a word's row of a table; of a rare word, [last h forward, last h backward] of a BiLSTM over its characters.
/// scores_t = tanh([forward_t, backward_t] W_h + b_h) W_o + b_o, from a BiLSTM over x; cross-entropy at every word.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/cells/cell.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/tanh.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kCharacterEmbedding = 20;
constexpr std::int32_t kMiddle = 32;

class CharacterTaggerNetwork : public Network {
 public:
  CharacterTaggerNetwork(SharedData<TaggedSentence> data, const EmbeddingAndHidden& sizes)
      : data_(std::move(data)),
        words_(model_ / "words", data_->words, sizes.embedding),
        characters_(model_ / "characters", data_->characters, kCharacterEmbedding),
        spell_(model_ / "spell", kCharacterEmbedding, sizes.embedding / 2),
        sequence_(model_ / "sequence", sizes.embedding, sizes.hidden),
        middle_(model_ / "middle", 2 * sizes.hidden, kMiddle),
        tag_(model_ / "tag", kMiddle, data_->labels) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    const TaggedSentence& sentence = at(instance);
    losses.push_back(cross_entropy_each(scores_(rows(encode(graph, sentence))), sentence.tags));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(scores_(rows(encode(graph, at(instance)))));
  }

 private:
  const TaggedSentence& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  std::vector<Expr> encode(Graph& graph, const TaggedSentence& sentence) const {
    std::vector<Expr> x;
    for (std::size_t w = 0; w < sentence.words.size(); ++w)
      x.push_back(sentence.characters[w].empty() ? words_(graph, sentence.words[w])
                                                 : spelled(graph, sentence.characters[w]));
    return sequence_(x);
  }

  Expr spelled(Graph& graph, const std::vector<std::int32_t>& characters) const {
    std::vector<Expr> x;
    for (const std::int32_t character : characters) x.push_back(characters_(graph, character));
    nn::LstmState forward = spell_.forward().initial(graph);
    nn::LstmState backward = spell_.backward().initial(graph);
    for (std::size_t i = 0; i < x.size(); ++i) {
      forward = spell_.forward()(x[i], forward);
      backward = spell_.backward()(x[x.size() - 1 - i], backward);
    }
    return concat({forward.h, backward.h});
  }

  SharedData<TaggedSentence> data_;
  nn::Embedding words_;
  nn::Embedding characters_;
  nn::BiLstm spell_;
  nn::BiLstm sequence_;
  nn::Linear middle_;
  nn::Linear tag_;
  Cell<Expr(Expr)> scores_{"scores", [this](Expr state) { return tag_(tanh(middle_(state))); }};
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
