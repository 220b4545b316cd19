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
#include "espalier/models/lattice_net.h"

namespace espalier::bench {
namespace {

models::LatticeSettings lattice_settings(const EmbeddingAndHidden& sizes) {
  return {.merge = "sum",
          .embedding = sizes.embedding,
          .hidden = sizes.hidden,
          .bidirectional = false,
          .crf = false,
          .dropout = 0};
}

class LatticeNetwork : public Network {
 public:
  LatticeNetwork(SharedData<Lattice> data, const EmbeddingAndHidden& sizes, models::Form form)
      : data_(std::move(data)),
        net_(model_, lattice_settings(sizes),
             {.characters = data_->characters, .words = data_->words, .tags = data_->labels}, form) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(net_.loss(net_.scores(graph, at(instance)), at(instance).labels));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(net_.scores(graph, at(instance)));
  }

 private:
  const Lattice& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  SharedData<Lattice> data_;
  models::LatticeNet net_;
};

}  // namespace

std::unique_ptr<Network> lattice_network(SharedData<Lattice> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<LatticeNetwork>(std::move(data), sizes, models::Form::kNodes);
}

std::unique_ptr<Network> lattice_recursion(SharedData<Lattice> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<LatticeNetwork>(std::move(data), sizes, models::Form::kRows);
}

std::unique_ptr<Workload> lattice_workload(SharedData<Lattice> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<NetworkWorkload<Lattice>>(
      "B5", "lattice LSTM on words in Chinese sentences", fmt::format("{}/{}", sizes.embedding, sizes.hidden),
      std::move(data), [](const Lattice& lattice) { return lattice.characters.size(); },
      [sizes](const SharedData<Lattice>& shared) { return lattice_network(shared, sizes); },
      [sizes](const SharedData<Lattice>& shared) { return lattice_recursion(shared, sizes); });
}

}  // namespace espalier::bench
