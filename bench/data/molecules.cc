/// Molecules: those of MoleculeNet's Lipophilicity set (Wu et al., 2018), or graphs with their statistics.
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/data/draws.h"
#include "bench/data/sets.h"
#include "espalier/data/molecule.h"
#include "espalier/data/vocabulary.h"

namespace espalier::bench {
namespace {

enum BondKind : std::int32_t { kSingle, kDouble, kTriple, kAromatic, kBondKinds };

std::int32_t kind_of(const data::MoleculeBond& bond) {
  switch (bond.order) {
    case data::MoleculeBond::Order::kDouble: return kDouble;
    case data::MoleculeBond::Order::kTriple: return kTriple;
    case data::MoleculeBond::Order::kAromatic: return kAromatic;
    default: return kSingle;
  }
}

/// "C", "c" if it is aromatic, "N+".
std::string name_of(const data::MoleculeAtom& atom) {
  std::string name(data::element_symbol(atom.element));
  if (atom.aromatic) name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  return name + std::string(static_cast<std::size_t>(std::abs(atom.charge)), atom.charge > 0 ? '+' : '-');
}

DataSet<Molecule> read_molecules(const std::filesystem::path& path) {
  DataSet<Molecule> set{.real = true, .kinds = kBondKinds};
  data::WordCounts atoms;
  data::MoleculeTableReader reader(path, {.targets = {"exp"}});
  for (data::MoleculeRow row; reader.next(row);) {
    Molecule& molecule = set.instances.emplace_back();
    for (const data::MoleculeAtom& atom : row.molecule.atoms) molecule.atoms.push_back(atoms.add(name_of(atom)));
    for (const data::MoleculeBond& bond : row.molecule.bonds)
      molecule.bonds.push_back({.a = bond.a, .b = bond.b, .kind = kind_of(bond)});
    molecule.target = static_cast<float>(row.targets[0].value_or(0));
  }
  set.words = atoms.size();
  return set;
}

// Counted in Lipophilicity.csv: 4,200 molecules of 27.0 atoms (20 kinds) and 29.5 bonds on average; 48 % of the bonds
// are aromatic, 46 % single. An atom has 1 to 4 neighbours: 16, 52, 31 and 1 %.
constexpr std::int32_t kMolecules = 4200;
constexpr std::array<Quantile, 10> kAtoms{
    {{0, 7}, {0.05, 15}, {0.1, 17}, {0.25, 22}, {0.5, 27}, {0.75, 32}, {0.9, 36}, {0.95, 38}, {0.99, 44}, {1, 115}}};
constexpr std::array<Quantile, 6> kTargets{{{0, -1.5}, {0.1, 0.5}, {0.25, 1.4}, {0.5, 2.4}, {0.9, 3.6}, {1, 4.5}}};
constexpr std::int32_t kMostNeighbours = 4;
constexpr double kBranches = 0.22;     // atoms that are bound to another than the one before them
constexpr double kClosesRing = 0.127;  // atoms that are also bound to one five places back, in a ring of six
constexpr std::int32_t kRing = 5;

Molecule make_molecule(Random& random, const Shares& atoms, const Shares& bonds) {
  Molecule molecule;
  const std::int32_t count = draw_count(random, kAtoms);
  std::vector<std::int32_t> neighbours(static_cast<std::size_t>(count), 0);
  const auto has_room = [&](std::int32_t atom, std::int32_t most) {
    return neighbours[static_cast<std::size_t>(atom)] < most;
  };
  const auto connect = [&](std::int32_t a, std::int32_t b) {
    ++neighbours[static_cast<std::size_t>(a)];
    ++neighbours[static_cast<std::size_t>(b)];
    molecule.bonds.push_back({.a = a, .b = b, .kind = bonds.draw(random)});
  };
  for (std::int32_t atom = 0; atom < count; ++atom) {
    molecule.atoms.push_back(atoms.draw(random));
    if (atom == 0) continue;
    std::int32_t to = atom - 1;
    if (random.uniform() < kBranches) {  // the last atom before with one or two neighbours, some places back
      to = static_cast<std::int32_t>(random.below(atom));
      while (to + 1 < atom && !has_room(to, 3)) ++to;
    }
    if (has_room(to, kMostNeighbours))
      connect(to, atom);
    else
      connect(atom - 1, atom);
    const std::int32_t ring = atom - kRing;
    if (ring >= 0 && has_room(ring, 3) && random.uniform() < kClosesRing) connect(ring, atom);
  }
  molecule.target = static_cast<float>(draw(random, kTargets));
  return molecule;
}

}  // namespace

DataSet<Molecule> molecules(const std::filesystem::path& folder, const Generate& generate) {
  if (!folder.empty() && data::rdkit_available()) return read_molecules(folder / "molecules/Lipophilicity.csv");
  // Aromatic carbon, carbon, oxygen, nitrogen and so on, then the rare ones.
  const Shares atoms{0.4434, 0.2916, 0.0922, 0.0761, 0.0515, 0.0156, 0.0114, 0.0093, 0.0045, 0.0019,
                     0.0009, 0.0008, 0.0005, 0.0002, 0.0001, 0.0001, 5e-5,   3e-5,   1e-5,   1e-5};
  const Shares bonds{0.46, 0.0557, 0.0031, 0.4813};
  DataSet<Molecule> set{.words = atoms.size(), .kinds = bonds.size()};
  set.instances.resize(static_cast<std::size_t>(generate.count > 0 ? generate.count : kMolecules));
  Random random(generate.seed);
  for (Molecule& molecule : set.instances) molecule = make_molecule(random, atoms, bonds);
  return set;
}

}  // namespace espalier::bench
