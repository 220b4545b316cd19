#include "espalier/models/molecule_net.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/ops/all.h"

namespace espalier::models {

class MoleculeNet::Network {
 public:
  Network(Model& model, const MoleculeSettings& settings, const MoleculeCounts& counts)
      : hidden_(settings.hidden), rounds_(settings.rounds), atoms_(model / "atoms", counts.atoms, settings.hidden) {
    if (counts.features > 0) features_.emplace(model / "features", counts.features, hidden_);
  }
  virtual ~Network() = default;
  /// The sum over the atoms: [hidden].
  virtual Expr sum_of_atoms(Graph& graph, const Molecule& molecule) const = 0;

 protected:
  std::int32_t hidden() const { return hidden_; }
  std::int32_t rounds() const { return rounds_; }
  /// The first states of the atoms.
  std::vector<Expr> first_states(Graph& graph, const Molecule& molecule) const {
    std::vector<Expr> h;
    const std::size_t size = molecule.features.size() / molecule.atoms.size();
    for (std::size_t v = 0; v < molecule.atoms.size(); ++v) {
      h.push_back(atoms_(graph, molecule.atoms[v]));
      if (!features_) continue;
      const auto features = std::span(molecule.features).subspan(v * size, size);
      h.back() = h.back() + (*features_)(graph.input({features_->input()}, features));
    }
    return h;
  }

 private:
  std::int32_t hidden_;
  std::int32_t rounds_;
  nn::Embedding atoms_;
  std::optional<nn::Linear> features_;
};

namespace {

class MessagePassing : public MoleculeNet::Network {
 public:
  MessagePassing(Model& model, const MoleculeSettings& settings, const MoleculeCounts& counts)
      : Network(model, settings, counts), gru_(model / "gru", hidden(), hidden()) {
    for (std::int32_t kind = 0; kind < counts.bonds; ++kind)
      bonds_.emplace_back(model / fmt::format("bond{}", kind), hidden(), hidden(), nn::LinearOptions{.bias = false});
  }

  Expr sum_of_atoms(Graph& graph, const Molecule& molecule) const override {
    std::vector<Expr> h = first_states(graph, molecule);
    for (std::int32_t round = 0; round < rounds(); ++round) h = pass(graph, molecule, h);
    return sum(h);
  }

 private:
  std::vector<Expr> pass(Graph& graph, const Molecule& molecule, const std::vector<Expr>& h) const {
    std::vector<std::vector<Expr>> received(h.size());
    std::vector<std::optional<Expr>> sent(h.size() * bonds_.size());  // by atom and kind of bond: for all neighbours
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

  nn::GruCell gru_;
  std::vector<nn::Linear> bonds_;
};

class Weave : public MoleculeNet::Network {
 public:
  Weave(Model& model, const MoleculeSettings& settings, const MoleculeCounts& counts)
      : Network(model, settings, counts),
        pairs_(model / "pairs", counts.bonds + 1, hidden()),
        out_(model / "out", hidden(), hidden()) {
    for (std::int32_t round = 0; round < rounds(); ++round) {
      const Scope scope = model / fmt::format("round{}", round);
      layers_.push_back({.atom_to_atom = {scope / "atom_to_atom", hidden(), hidden()},
                         .pair_to_atom = {scope / "pair_to_atom", hidden(), hidden()},
                         .atom = {scope / "atom", 2 * hidden(), hidden()},
                         .atoms_to_pair = {scope / "atoms_to_pair", 2 * hidden(), hidden()},
                         .pair_to_pair = {scope / "pair_to_pair", hidden(), hidden()},
                         .pair = {scope / "pair", 2 * hidden(), hidden()}});
    }
  }

  Expr sum_of_atoms(Graph& graph, const Molecule& molecule) const override {
    std::vector<Expr> atoms = first_states(graph, molecule);
    const std::map<Pair, std::int32_t> kinds = near_pairs(molecule);
    std::vector<Expr> pairs;
    pairs.reserve(kinds.size());
    for (const auto& [pair, kind] : kinds) pairs.push_back(pairs_(graph, kind));
    for (std::int32_t round = 0; round < rounds(); ++round) {
      const bool last = round + 1 == rounds();  // no atom reads its pairs
      weave(graph, layers_[static_cast<std::size_t>(round)], kinds, last, atoms, pairs);
    }
    for (Expr& atom : atoms) atom = tanh(out_(atom));
    return sum(atoms);
  }

 private:
  using Pair = std::pair<std::int32_t, std::int32_t>;  // of atoms, the smaller first
  struct Layers {
    nn::Linear atom_to_atom, pair_to_atom, atom, atoms_to_pair, pair_to_pair, pair;
  };

  /// Pairs at most two bonds apart, with their kind of bond, or the number of kinds for two bonds.
  std::map<Pair, std::int32_t> near_pairs(const Molecule& molecule) const {
    std::map<Pair, std::int32_t> pairs;
    std::vector<std::vector<std::int32_t>> neighbours(molecule.atoms.size());
    for (const Molecule::Bond& bond : molecule.bonds) {
      pairs.emplace(std::minmax(bond.a, bond.b), bond.kind);
      neighbours[static_cast<std::size_t>(bond.a)].push_back(bond.b);
      neighbours[static_cast<std::size_t>(bond.b)].push_back(bond.a);
    }
    for (const std::vector<std::int32_t>& of_one : neighbours)
      for (const std::int32_t a : of_one)
        for (const std::int32_t b : of_one)
          if (a < b) pairs.emplace(Pair(a, b), pairs_.size() - 1);
    return pairs;
  }

  void weave(Graph& graph, const Layers& layers, const std::map<Pair, std::int32_t>& kinds, bool last,
             std::vector<Expr>& atoms, std::vector<Expr>& pairs) const {
    std::vector<std::vector<Expr>> received(atoms.size());
    std::vector<Expr> next_pairs;
    std::size_t p = 0;
    for (const auto& [pair, kind] : kinds) {
      const Expr& state = pairs[p++];
      const auto u = static_cast<std::size_t>(pair.first);
      const auto v = static_cast<std::size_t>(pair.second);
      const Expr to_atoms = relu(layers.pair_to_atom(state));
      received[u].push_back(to_atoms);
      received[v].push_back(to_atoms);
      if (last) continue;
      const Expr of_atoms = relu(layers.atoms_to_pair(concat({atoms[u], atoms[v]}, 0))) +
                            relu(layers.atoms_to_pair(concat({atoms[v], atoms[u]}, 0)));
      next_pairs.push_back(relu(layers.pair(concat({of_atoms, relu(layers.pair_to_pair(state))}, 0))));
    }
    for (std::size_t v = 0; v < atoms.size(); ++v) {
      const Expr from_pairs = received[v].empty() ? graph.constant({hidden()}, 0) : sum(received[v]);
      atoms[v] = relu(layers.atom(concat({relu(layers.atom_to_atom(atoms[v])), from_pairs}, 0)));
    }
    pairs = std::move(next_pairs);
  }

  nn::Embedding pairs_;
  nn::Linear out_;
  std::vector<Layers> layers_;
};

MoleculeSettings checked_molecules(MoleculeSettings settings) {
  const SettingList list = settings_of(settings);
  list.assign(list.to_value());
  return settings;
}

std::unique_ptr<const MoleculeNet::Network> make_molecule_network(Model& model, const MoleculeSettings& settings,
                                                                  const MoleculeCounts& counts) {
  if (settings.network == "weave") return std::make_unique<Weave>(model, settings, counts);
  return std::make_unique<MessagePassing>(model, settings, counts);
}

/// The elements of `output` whose target is known, with these targets.
std::pair<std::vector<Expr>, std::vector<float>> known(const Expr& output, std::span<const float> targets) {
  if (std::ssize(targets) != output.shape()[0])
    throw UsageError(fmt::format("molecules: {} targets for {} outputs", targets.size(), output.shape()[0]));
  std::pair<std::vector<Expr>, std::vector<float>> result;
  for (std::size_t k = 0; k < targets.size(); ++k)
    if (!std::isnan(targets[k])) {
      result.first.push_back(slice(output, static_cast<std::int32_t>(k), static_cast<std::int32_t>(k) + 1));
      result.second.push_back(targets[k]);
    }
  if (result.first.empty()) throw UsageError("molecules: no target is known");
  return result;
}

}  // namespace

void MoleculeSettings::list(SettingList& list) {
  list.add("network", network, "how atoms learn of each other", {"message_passing", "weave"});
  list.add("hidden", hidden, "size of an atom's state", 1, 4096);
  list.add("readout", readout,
           "how the answer follows from the atoms: a linear layer of their sum, or two of their mean", {"sum", "mean"});
  list.add("rounds", rounds, "rounds of messages between neighbours", 1, 64);
  list.add("dropout", dropout, "dropout of the sum over the atoms", 0, 0.99);
}

MoleculeNet::MoleculeNet(Model& model, const MoleculeSettings& settings, const MoleculeCounts& counts)
    : settings_(checked_molecules(settings)),
      network_(make_molecule_network(model, settings_, counts)),
      readout_(model / "readout", settings.hidden, counts.targets) {
  if (settings_.readout == "mean") middle_.emplace(model / "middle", settings.hidden, settings.hidden);
}
MoleculeNet::~MoleculeNet() = default;

Expr MoleculeNet::output(Graph& graph, const Molecule& molecule) const {
  if (molecule.atoms.empty()) throw UsageError("molecules: a molecule has no atoms");
  Expr atoms = network_->sum_of_atoms(graph, molecule);
  if (middle_) atoms = relu((*middle_)(atoms * (1.0 / static_cast<double>(molecule.atoms.size()))));
  return readout_(dropout(atoms, settings_.dropout));
}

Expr MoleculeNet::regression_loss(const Expr& output, std::span<const float> targets) {
  const auto [outputs, numbers] = known(output, targets);
  Graph& graph = output.graph();
  if (outputs.size() == targets.size()) return squared_distance(output, graph.input(output.shape(), targets));
  return squared_distance(concat(outputs, 0), graph.input({static_cast<std::int64_t>(numbers.size())}, numbers));
}

Expr MoleculeNet::classification_loss(const Expr& output, std::span<const float> targets) {
  const auto [outputs, numbers] = known(output, targets);
  std::vector<Expr> losses;
  for (std::size_t k = 0; k < numbers.size(); ++k)
    losses.push_back(binary_cross_entropy(outputs[k], static_cast<double>(numbers[k])));
  return sum(losses);
}

}  // namespace espalier::models
