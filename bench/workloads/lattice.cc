/// B5: a lattice LSTM (after Zhang and Yang, 2018, in the form that ED-Batch measures; Chen et al., 2023).
///
/// Every arc, of a character or of a word, applies an LSTM cell to the state where it begins and its own embedding; the
/// cells of character arcs and of word arcs have weights of their own. The state after a character is the sum, of h and
/// of c, over the arcs that end there. Cross-entropy of h W + b after every character.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/sum.h"

namespace espalier::bench {
namespace {

class LatticeNetwork : public Network {
 public:
  LatticeNetwork(SharedData<Lattice> data, const EmbeddingAndHidden& sizes)
      : data_(std::move(data)),
        characters_(model_ / "characters", data_->characters, sizes.embedding),
        words_(model_ / "words", data_->words, sizes.embedding),
        character_arc_(model_ / "character_arc", sizes.embedding, sizes.hidden),
        word_arc_(model_ / "word_arc", sizes.embedding, sizes.hidden),
        label_(model_ / "label", sizes.hidden, data_->labels) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(cross_entropy_each(scores(graph, instance), at(instance).labels));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(scores(graph, instance));
  }

 private:
  const Lattice& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  /// Of all characters.
  Expr scores(Graph& graph, std::int32_t instance) const {
    std::vector<Expr> h;
    for (const nn::LstmState& state : encode(graph, at(instance))) h.push_back(state.h);
    return label_(rows(std::span<const Expr>(h).subspan(1)));
  }
  /// The state before the first character, and that after each.
  std::vector<nn::LstmState> encode(Graph& graph, const Lattice& lattice) const {
    std::vector<nn::LstmState> states{character_arc_.initial(graph)};
    std::vector<Expr> h;
    std::vector<Expr> c;
    auto word = lattice.words.begin();
    for (const std::int32_t character : lattice.characters) {
      const auto end = static_cast<std::int32_t>(states.size());
      nn::LstmState state = character_arc_(characters_(graph, character), states.back());
      h.assign(1, state.h);
      c.assign(1, state.c);
      for (; word != lattice.words.end() && word->end == end; ++word) {
        const nn::LstmState arc = word_arc_(words_(graph, word->word), states[static_cast<std::size_t>(word->begin)]);
        h.push_back(arc.h);
        c.push_back(arc.c);
      }
      if (h.size() > 1) state = {sum(h), sum(c)};
      states.push_back(state);
    }
    return states;
  }

  SharedData<Lattice> data_;
  nn::Embedding characters_;
  nn::Embedding words_;
  nn::LstmCell character_arc_;
  nn::LstmCell word_arc_;
  nn::Linear label_;
};

}  // namespace

std::unique_ptr<Network> lattice_network(SharedData<Lattice> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<LatticeNetwork>(std::move(data), sizes);
}

std::unique_ptr<Workload> lattice_workload(SharedData<Lattice> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<NetworkWorkload<Lattice>>(
      "B5", "lattice LSTM on words in Chinese sentences", fmt::format("{}/{}", sizes.embedding, sizes.hidden),
      std::move(data), [](const Lattice& lattice) { return lattice.characters.size(); },
      [sizes](const SharedData<Lattice>& shared) { return lattice_network(shared, sizes); });
}

}  // namespace espalier::bench
