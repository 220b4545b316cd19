/// B6: message passing on molecules (a gated graph network: Li et al., 2016; Gilmer et al., 2017).
///
/// h_v starts as the embedding of the kind of atom v. Four times: m_v = sum over neighbours u of h_u A_k, with a matrix
/// A_k for each kind k of bond; h_v = GRU(m_v, h_v). Then y = (sum over v of h_v) w + b, and (y - target)^2 is the
/// loss.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/squared_distance.h"
#include "espalier/ops/sum.h"

namespace espalier::bench {
namespace {

constexpr int kRounds = 4;

class MessagePassingNetwork : public Network {
 public:
  MessagePassingNetwork(SharedData<Molecule> data, std::int32_t hidden)
      : data_(std::move(data)),
        atoms_(model_ / "atoms", data_->words, hidden),
        gru_(model_ / "gru", hidden, hidden),
        readout_(model_ / "readout", hidden, 1) {
    for (std::int32_t kind = 0; kind < data_->kinds; ++kind)
      bonds_.emplace_back(model_ / fmt::format("bond{}", kind), hidden, hidden, nn::LinearOptions{.bias = false});
  }

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    const Molecule& molecule = at(instance);
    losses.push_back(squared_distance(predict(graph, molecule), graph.constant({1}, molecule.target)));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(predict(graph, at(instance)));
  }

 private:
  const Molecule& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  Expr predict(Graph& graph, const Molecule& molecule) const {
    std::vector<Expr> h;
    for (const std::int32_t atom : molecule.atoms) h.push_back(atoms_(graph, atom));
    for (int round = 0; round < kRounds; ++round) h = pass(graph, molecule, h);
    return readout_(sum(h));
  }

  std::vector<Expr> pass(Graph& graph, const Molecule& molecule, const std::vector<Expr>& h) const {
    std::vector<std::vector<Expr>> received(h.size());
    std::vector<std::optional<Expr>> sent(h.size() *
                                          bonds_.size());  // by atom and kind of bond: one for all neighbours
    const auto send = [&](std::int32_t from, std::int32_t to, std::int32_t kind) {
      const auto u = static_cast<std::size_t>(from);
      const auto k = static_cast<std::size_t>(kind);
      std::optional<Expr>& message = sent[u * bonds_.size() + k];
      if (!message) message = bonds_[k](h[u]);
      received[static_cast<std::size_t>(to)].push_back(*message);
    };
    for (const Molecule::Bond& bond : molecule.bonds) {
      send(bond.a, bond.b, bond.kind);
      send(bond.b, bond.a, bond.kind);
    }
    std::vector<Expr> next;
    for (std::size_t v = 0; v < h.size(); ++v)
      next.push_back(gru_(received[v].empty() ? graph.constant({gru_.hidden()}, 0) : sum(received[v]), h[v]));
    return next;
  }

  SharedData<Molecule> data_;
  nn::Embedding atoms_;
  nn::GruCell gru_;
  nn::Linear readout_;
  std::vector<nn::Linear> bonds_;
};

}  // namespace

std::unique_ptr<Network> message_passing_network(SharedData<Molecule> data, std::int32_t hidden) {
  return std::make_unique<MessagePassingNetwork>(std::move(data), hidden);
}

std::unique_ptr<Workload> message_passing_workload(SharedData<Molecule> data, std::int32_t hidden) {
  return std::make_unique<NetworkWorkload<Molecule>>(
      "B6", "message passing on molecules", std::to_string(hidden), std::move(data),
      [](const Molecule& molecule) { return molecule.atoms.size(); },
      [hidden](const SharedData<Molecule>& shared) { return message_passing_network(shared, hidden); });
}

}  // namespace espalier::bench
