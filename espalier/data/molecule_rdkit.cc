#include "espalier/data/molecule_rdkit.h"

#include "espalier/base/error.h"

#if ESPALIER_HAS_RDKIT

#include <GraphMol/FileParsers/FileParsers.h>
#include <GraphMol/GraphMol.h>
#include <GraphMol/SmilesParse/SmilesParse.h>

#include <exception>
#include <memory>

namespace espalier::data {
namespace {

MoleculeAtom::Chirality chirality_of(const RDKit::Atom& atom) {
  switch (atom.getChiralTag()) {
    case RDKit::Atom::CHI_UNSPECIFIED: return MoleculeAtom::Chirality::kUnspecified;
    case RDKit::Atom::CHI_TETRAHEDRAL_CW: return MoleculeAtom::Chirality::kClockwise;
    case RDKit::Atom::CHI_TETRAHEDRAL_CCW: return MoleculeAtom::Chirality::kCounterclockwise;
    default: return MoleculeAtom::Chirality::kOther;
  }
}

MoleculeBond::Order order_of(const RDKit::Bond& bond) {
  switch (bond.getBondType()) {
    case RDKit::Bond::SINGLE: return MoleculeBond::Order::kSingle;
    case RDKit::Bond::DOUBLE: return MoleculeBond::Order::kDouble;
    case RDKit::Bond::TRIPLE: return MoleculeBond::Order::kTriple;
    case RDKit::Bond::AROMATIC: return MoleculeBond::Order::kAromatic;
    default: return MoleculeBond::Order::kOther;
  }
}

Molecule molecule_of(const RDKit::ROMol& source) {
  Molecule molecule;
  const RDKit::RingInfo& rings = *source.getRingInfo();
  for (const RDKit::Atom* atom : source.atoms())
    molecule.atoms.push_back({.element = atom->getAtomicNum(),
                              .charge = atom->getFormalCharge(),
                              .hydrogens = static_cast<std::int32_t>(atom->getTotalNumHs()),
                              .degree = static_cast<std::int32_t>(atom->getDegree()),
                              .aromatic = atom->getIsAromatic(),
                              .in_ring = rings.numAtomRings(atom->getIdx()) > 0,
                              .chirality = chirality_of(*atom)});
  for (const RDKit::Bond* bond : source.bonds())
    molecule.bonds.push_back({.a = static_cast<std::int32_t>(bond->getBeginAtomIdx()),
                              .b = static_cast<std::int32_t>(bond->getEndAtomIdx()),
                              .order = order_of(*bond),
                              .in_ring = rings.numBondRings(bond->getIdx()) > 0,
                              .conjugated = bond->getIsConjugated()});
  return molecule;
}

template <class Read>
RdkitResult result_of(const Read& read) {
  try {
    const std::unique_ptr<RDKit::RWMol> molecule(read());
    if (!molecule) return {{}, "the syntax is wrong"};
    if (molecule->getNumAtoms() == 0) return {{}, "there are no atoms"};
    return {molecule_of(*molecule), {}};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::string reason = error.what();
    return {{}, reason.substr(0, reason.find('\n'))};
  }
}

}  // namespace

bool rdkit_available() { return true; }
void require_rdkit() {}

RdkitResult rdkit_from_smiles(const std::string& smiles) {
  return result_of([&] { return RDKit::SmilesToMol(smiles); });
}

RdkitResult rdkit_from_mol_block(const std::string& block) {
  return result_of([&] { return RDKit::MolBlockToMol(block); });
}

}  // namespace espalier::data

#else

namespace espalier::data {

bool rdkit_available() { return false; }

void require_rdkit() {
  throw UsageError(
      "molecules: Espalier was built without RDKit; install librdkit-dev and libboost-dev, then configure and build "
      "again");
}

RdkitResult rdkit_from_smiles(const std::string& /*smiles*/) {
  require_rdkit();
  return {};
}
RdkitResult rdkit_from_mol_block(const std::string& /*block*/) {
  require_rdkit();
  return {};
}

}  // namespace espalier::data

#endif
