/// Graph convolution on molecules, the "weave" of Kearnes et al. (2016): atoms learn from pairs of atoms, and pairs
/// from their atoms. It finds amides: a carbon with a double bond to oxygen and a single one to nitrogen.
#include <espalier/blocks.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

enum Element : std::int32_t { kCarbon, kNitrogen, kOxygen, kElements };
enum Pair : std::int32_t { kApart, kSingle, kDouble, kItself, kPairs };

struct Molecule {
  std::vector<std::int32_t> atoms;
  std::vector<std::vector<std::int32_t>> pairs;  // row i: atom i with each
  bool is_amide = false;
};

bool has_amide(const Molecule& m) {
  const auto bound_to = [&](std::size_t atom, Element element, Pair bond) {
    for (std::size_t other = 0; other < m.atoms.size(); ++other)
      if (m.atoms[other] == element && m.pairs[atom][other] == bond) return true;
    return false;
  };
  for (std::size_t atom = 0; atom < m.atoms.size(); ++atom)
    if (m.atoms[atom] == kCarbon && bound_to(atom, kOxygen, kDouble) && bound_to(atom, kNitrogen, kSingle)) return true;
  return false;
}

/// A tree of atoms, each with no more bonds than its element can have.
Molecule make_molecule(esp::Random& random) {
  constexpr std::array<std::int32_t, kElements> kBonds{4, 3, 2};
  Molecule m;
  const std::size_t size = 4 + static_cast<std::size_t>(random.below(6));
  m.pairs.assign(size, std::vector<std::int32_t>(size, kApart));
  std::vector<std::int32_t> free;
  while (m.atoms.size() < size) {
    const std::size_t atom = m.atoms.size();
    const auto element = atom == 0 ? kCarbon : static_cast<Element>(random.below(kElements));
    const auto partner = static_cast<std::size_t>(atom == 0 ? 0 : random.below(std::ssize(m.atoms)));
    const auto bond = 1 + static_cast<std::int32_t>(random.below(2));
    const std::int32_t bonds = kBonds[static_cast<std::size_t>(element)];
    if (atom > 0 && (free[partner] < bond || bonds < bond)) {
      if (free == std::vector<std::int32_t>(free.size(), 0)) return make_molecule(random);  // nothing fits any more
      continue;
    }
    m.atoms.push_back(element);
    m.pairs[atom][atom] = kItself;
    free.push_back(atom == 0 ? bonds : bonds - bond);
    if (atom == 0) continue;
    m.pairs[atom][partner] = m.pairs[partner][atom] = bond;
    free[partner] -= bond;
  }
  m.is_amide = has_amide(m);
  return m;
}

/// As many amides as others.
std::vector<Molecule> molecules(esp::Random& random, int count) {
  std::vector<Molecule> result;
  while (std::ssize(result) < count) {
    const Molecule m = make_molecule(random);
    if (m.is_amide == (result.size() % 2 == 0)) result.push_back(m);
  }
  return result;
}

// model begins
/// (atoms, pairs) -> (atoms, pairs); pairs are a sequence of sequences.
b::Block weave(const esp::Scope& at, std::int32_t atom, std::int32_t pair, std::int32_t size) {
  const esp::nn::FC both(at / "atoms_to_pair", 2 * atom, size);
  const auto either_way = [both](esp::Expr x, esp::Expr y) {
    return both(esp::concat({x, y})) + both(esp::concat({y, x}));
  };
  const b::Block with_each = b::record({b::broadcast(), b::identity()}) >> b::zip_with(either_way);

  b::Composition w("weave");
  const b::Wire atoms = w.input()[0];
  const b::Wire pairs = w.input()[1];
  const b::Wire atom_to_atom = w(b::map(esp::nn::FC(at / "atom_to_atom", atom, size)), atoms);
  const b::Wire pair_to_atom = w(b::map(b::map(esp::nn::FC(at / "pair_to_atom", pair, size)) >> b::sum()), pairs);
  const b::Wire atoms_to_pair = w(b::zip() >> b::map(with_each), {atoms, w(b::broadcast(), atoms)});
  const b::Wire pair_to_pair = w(b::map(b::map(esp::nn::FC(at / "pair_to_pair", pair, size))), pairs);
  const b::Block join_atom = b::concat() >> esp::nn::FC(at / "atom", 2 * size, size);
  const b::Block join_pair = b::concat() >> esp::nn::FC(at / "pair", 2 * size, size);
  w.output().reads({w(b::zip_with(join_atom), {atom_to_atom, pair_to_atom}),
                    w(b::zip_with(b::zip_with(join_pair)), {atoms_to_pair, pair_to_pair})});
  return w;
}

b::Block convolution(esp::Model& model) {
  const b::Block atoms = b::get(&Molecule::atoms) >> b::map(b::one_hot(0, kElements));
  const b::Block pairs = b::get(&Molecule::pairs) >> b::map(b::map(b::one_hot(0, kPairs)));
  return b::all_of({atoms, pairs}) >> weave(model / "first", kElements, kPairs, 16) >>
         weave(model / "second", 16, 16, 16) >> b::get(0) >> b::max() >> esp::nn::Mlp(model / "classify", {16, 16, 1});
}
// model ends

double share_right(const b::Program& program, const std::vector<Molecule>& set) {
  double right = 0;
  std::size_t i = 0;
  for (const b::Result& score : b::stream(program, set)) right += (score.item() > 0) == set[i++].is_amide ? 1 : 0;
  return right / static_cast<double>(set.size());
}

}  // namespace

int main() {
  esp::Model model;
  const b::Block score = convolution(model);
  const auto error = [](esp::Expr x, bool amide) {
    return esp::binary_cross_entropy(esp::pick(x, 0), amide ? 1.0 : 0.0);
  };
  const b::Program answers(score);
  const b::Program losses(b::all_of({score, b::get(&Molecule::is_amide)}) >> error >> b::loss("amide"));

  esp::Random random(11);
  const std::vector<Molecule> held_out = molecules(random, 300);
  std::printf("before: %5.1f %% of molecules right\n", 100 * share_right(answers, held_out));
  esp::optim::Adam adam(model, {.learning_rate = 5e-3});
  for (int step = 0; step < 400; ++step) {
    esp::Graph g;
    losses.loss(g, molecules(random, 32)).backward();
    adam.step();
  }
  const double right = share_right(answers, held_out);
  std::printf("after:  %5.1f %%\n", 100 * right);
  if (right > 0.95) return 0;
  std::puts("more than 95 % are expected");
  return 1;
}
