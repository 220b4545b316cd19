/// Structure-data files.
#include "espalier/data/molecule.h"
#include "fuzz/reader.h"

namespace espalier::fuzz {

void sdf(std::string_view input) {
  if (!data::rdkit_available()) return;
  for (const data::SdfRecord& record : read_text<data::SdfReader>(input))
    check(!record.molecule.atoms.empty(), "a molecule has atoms");
}

}  // namespace espalier::fuzz
