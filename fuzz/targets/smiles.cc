/// Molecules from SMILES, by lines and in tables.
#include "espalier/data/molecule.h"
#include "fuzz/reader.h"

namespace espalier::fuzz {

void smiles(std::string_view input) {
  if (!data::rdkit_available()) return;
  for (const data::SmilesRecord& record : read_text<data::SmilesReader>(input))
    for (const data::MoleculeBond& bond : record.molecule.bonds)
      check(bond.a != bond.b && std::max(bond.a, bond.b) < std::ssize(record.molecule.atoms), "bonds join atoms");
  for (const data::MoleculeRow& row :
       read_text<data::MoleculeTableReader>(input, data::MoleculeTableOptions{.targets = {"y"}}))
    check(row.targets.size() == 1, "a row has a number or nothing per target");
}

}  // namespace espalier::fuzz
