/// What RDKit does for the readers of molecules. Only molecule_rdkit.cc includes its headers.
#pragma once

#include <string>

#include "espalier/data/molecule.h"

namespace espalier::data {

/// Refuses (UsageError) a library that was built without RDKit.
void require_rdkit();

/// A molecule, or why there is none.
struct RdkitResult {
  Molecule molecule;
  std::string error;  // empty if there is a molecule
};

RdkitResult rdkit_from_smiles(const std::string& smiles);
RdkitResult rdkit_from_mol_block(const std::string& block);

}  // namespace espalier::data
