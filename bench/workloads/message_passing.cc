/// B6: message passing on molecules (a gated graph network: Li et al., 2016; Gilmer et al., 2017).
///
/// h_v starts as the embedding of the kind of atom v. Four times: m_v = sum over neighbours u of h_u A_k, with a matrix
/// A_k for each kind k of bond; h_v = GRU(m_v, h_v). Then y = (sum over v of h_v) w + b, and (y - target)^2 is the
/// loss.
#include <string>
#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/models/molecule_net.h"

namespace espalier::bench {
namespace {

class MessagePassingNetwork : public Network {
 public:
  MessagePassingNetwork(SharedData<Molecule> data, std::int32_t hidden)
      : data_(std::move(data)),
        net_(model_, {.hidden = hidden, .rounds = 4}, {.atoms = data_->words, .bonds = data_->kinds}) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    const Molecule& molecule = at(instance);
    losses.push_back(net_.regression_loss(net_.output(graph, molecule), {&molecule.target, 1}));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(net_.output(graph, at(instance)));
  }

 private:
  const Molecule& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  SharedData<Molecule> data_;
  models::MoleculeNet net_;
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
