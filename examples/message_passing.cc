/// A network over molecules given as adjacency lists: a gated graph network (Li et al., 2016) that predicts a number
/// per molecule. The page docs/howto/molecules.md explains it.
#include <espalier/espalier.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace esp = espalier;

namespace {

/// Atoms are numbered; neighbours[v] lists the atoms that v is bound to.
struct Molecule {
  std::vector<std::int32_t> elements;
  struct Bond {
    std::int32_t atom;
    std::int32_t order;  // 0: single, 1: double
  };
  std::vector<std::vector<Bond>> neighbours;
  float target = 0;
};

constexpr std::int32_t kElements = 3;  // carbon, nitrogen, oxygen
constexpr std::int32_t kOrders = 2;

struct Network {
  esp::Model model;
  esp::nn::Embedding atoms{model / "atoms", kElements, 16};
  std::vector<esp::nn::Linear> bonds;
  esp::nn::GruCell gru{model / "gru", 16, 16};
  esp::nn::Mlp readout{model / "readout", {16, 16, 1}};

  Network() {
    for (std::int32_t order = 0; order < kOrders; ++order)
      bonds.emplace_back(model / ("bond" + std::to_string(order)), 16, 16, esp::nn::LinearOptions{.bias = false});
  }

  // Written for one molecule, as a chemist would draw it: every atom collects messages from its neighbours.
  esp::Expr predict(esp::Graph& g, const Molecule& molecule) const {
    std::vector<esp::Expr> states;
    for (const std::int32_t element : molecule.elements) states.push_back(atoms(g, element));
    for (int round = 0; round < 3; ++round) {
      std::vector<esp::Expr> next;
      for (std::size_t v = 0; v < states.size(); ++v) {
        std::vector<esp::Expr> messages;
        for (const Molecule::Bond& bond : molecule.neighbours[v])
          messages.push_back(bonds[static_cast<std::size_t>(bond.order)](states[static_cast<std::size_t>(bond.atom)]));
        next.push_back(gru(esp::sum(messages), states[v]));
      }
      states = next;
    }
    return readout(esp::sum(states));
  }
};

/// A random tree of atoms, and sometimes a ring. The target counts carbons with a double bond to oxygen, plus a tenth
/// of the number of atoms.
Molecule random_molecule(esp::Random& random) {
  Molecule molecule;
  const auto size = static_cast<std::int32_t>(3 + random.below(8));
  molecule.neighbours.resize(static_cast<std::size_t>(size));
  const auto bind = [&](std::int32_t a, std::int32_t b, std::int32_t order) {
    molecule.neighbours[static_cast<std::size_t>(a)].push_back({b, order});
    molecule.neighbours[static_cast<std::size_t>(b)].push_back({a, order});
  };
  for (std::int32_t v = 0; v < size; ++v) {
    molecule.elements.push_back(static_cast<std::int32_t>(random.below(kElements)));
    if (v > 0) bind(v, static_cast<std::int32_t>(random.below(v)), static_cast<std::int32_t>(random.below(kOrders)));
  }
  if (size > 4 && random.below(2) == 0) bind(0, size - 1, 0);
  molecule.target = 0.1F * static_cast<float>(size);
  for (std::size_t v = 0; v < molecule.elements.size(); ++v) {
    if (molecule.elements[v] != 0) continue;
    bool has_oxygen = false;
    for (const Molecule::Bond& bond : molecule.neighbours[v])
      has_oxygen |= bond.order == 1 && molecule.elements[static_cast<std::size_t>(bond.atom)] == 2;
    molecule.target += has_oxygen ? 1.0F : 0.0F;
  }
  return molecule;
}

std::vector<Molecule> random_molecules(std::uint64_t seed, int count) {
  esp::Random random(seed);
  std::vector<Molecule> molecules;
  for (int i = 0; i < count; ++i) molecules.push_back(random_molecule(random));
  return molecules;
}

/// The mean squared error.
double error_on(const Network& net, const std::vector<Molecule>& molecules) {
  esp::Graph g({.training = false});
  std::vector<esp::Expr> losses;
  for (const Molecule& molecule : molecules) {
    g.begin_instance();
    losses.push_back(esp::mse(net.predict(g, molecule), g.constant({1}, molecule.target)));
  }
  return esp::mean(losses).scalar();
}

}  // namespace

int main() {
  const std::vector<Molecule> train = random_molecules(1, 1000);
  const std::vector<Molecule> held_out = random_molecules(2, 300);
  Network net;
  esp::optim::Adam adam(net.model, {.learning_rate = 3e-3});
  std::printf("before training: squared error %.3f on held-out molecules\n", error_on(net, held_out));
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (const auto& batch : esp::batches(train, 32, {.seed = 7, .epoch = epoch})) {
      esp::Graph g;
      std::vector<esp::Expr> losses;
      for (const Molecule& molecule : batch) {
        g.begin_instance();
        losses.push_back(esp::mse(net.predict(g, molecule), g.constant({1}, molecule.target)));
      }
      esp::mean(losses).backward();
      adam.step();
    }
  }
  const double error = error_on(net, held_out);
  std::printf("after training:  squared error %.3f\n", error);
  if (error < 0.05) return 0;
  std::puts("an error below 0.05 is expected");
  return 1;
}
