#include "espalier/models/molecule_features.h"

#include <algorithm>
#include <array>

namespace espalier::models {
namespace {

// As MoleculeNet's (Wu et al., 2018), which also has hybridisation and radical electrons.
constexpr std::int32_t kDegrees = 6;    // 0 to 5 and more
constexpr std::int32_t kHydrogens = 5;  // 0 to 4 and more
enum AtomFeature : std::int32_t {
  kDegree = 0,
  kHydrogen = kDegree + kDegrees,
  kCharge = kHydrogen + kHydrogens,
  kAromatic,
  kInRing,
  kClockwise,
  kCounterclockwise,
  kAtomFeatures
};

enum BondKind : std::int32_t { kSingle, kConjugated, kDouble, kTriple, kAromaticBond, kBondKinds };

std::array<float, kAtomFeatures> features_of(const data::MoleculeAtom& atom) {
  std::array<float, kAtomFeatures> features{};
  const auto set = [&](std::int32_t feature, float value = 1) { features[static_cast<std::size_t>(feature)] = value; };
  set(kDegree + std::clamp(atom.degree, 0, kDegrees - 1));
  set(kHydrogen + std::clamp(atom.hydrogens, 0, kHydrogens - 1));
  set(kCharge, static_cast<float>(std::clamp(atom.charge, -4, 4)));
  set(kAromatic, atom.aromatic ? 1 : 0);
  set(kInRing, atom.in_ring ? 1 : 0);
  set(kClockwise, atom.chirality == data::MoleculeAtom::Chirality::kClockwise ? 1 : 0);
  set(kCounterclockwise, atom.chirality == data::MoleculeAtom::Chirality::kCounterclockwise ? 1 : 0);
  return features;
}

std::int32_t kind_of_bond(const data::MoleculeBond& bond) {
  switch (bond.order) {
    case data::MoleculeBond::Order::kDouble: return kDouble;
    case data::MoleculeBond::Order::kTriple: return kTriple;
    case data::MoleculeBond::Order::kAromatic: return kAromaticBond;
    default: return bond.conjugated ? kConjugated : kSingle;
  }
}

}  // namespace

void MoleculeFeatures::count(const data::Molecule& molecule, WordCounts& elements) {
  for (const data::MoleculeAtom& atom : molecule.atoms) elements.add(data::element_symbol(atom.element));
}

Molecule MoleculeFeatures::encode(const data::Molecule& molecule) const {
  Molecule result;
  for (const data::MoleculeAtom& atom : molecule.atoms) {
    result.atoms.push_back(elements_.number(data::element_symbol(atom.element)));
    const std::array<float, kAtomFeatures> features = features_of(atom);
    result.features.insert(result.features.end(), features.begin(), features.end());
  }
  for (const data::MoleculeBond& bond : molecule.bonds)
    result.bonds.push_back({.a = bond.a, .b = bond.b, .kind = kind_of_bond(bond)});
  return result;
}

MoleculeCounts MoleculeFeatures::counts(std::int32_t targets) const {
  return {.atoms = elements_.size(), .bonds = kBondKinds, .features = kAtomFeatures, .targets = targets};
}

MoleculeFeatures MoleculeFeatures::from_value(const Value& value) {
  MoleculeFeatures result;
  result.elements_ = Words::from_value(value);
  return result;
}

}  // namespace espalier::models
