/// What MoleculeNet reads of a molecule: the element of each atom as a number, features of atoms, and kinds of bonds.
///
/// Thread safety: const functions from any thread.
#pragma once

#include <cstdint>

#include "espalier/data/molecule.h"
#include "espalier/data/value.h"
#include "espalier/models/instances.h"
#include "espalier/models/molecule_net.h"
#include "espalier/models/words.h"

namespace espalier::models {

class MoleculeFeatures {
 public:
  MoleculeFeatures() = default;
  /// The elements that occur in the training data; all others are one unknown element.
  explicit MoleculeFeatures(const WordCounts& elements) : elements_(elements) {}
  /// Counts the elements of a molecule.
  static void count(const data::Molecule& molecule, WordCounts& elements);

  /// Without targets.
  Molecule encode(const data::Molecule& molecule) const;
  MoleculeCounts counts(std::int32_t targets) const;
  /// Without the unknown one.
  std::int32_t elements() const { return elements_.size() - 1; }

  Value to_value() const { return elements_.to_value(); }
  /// Refuses what Words::from_value() refuses.
  static MoleculeFeatures from_value(const Value& value);

 private:
  Words elements_;
};

}  // namespace espalier::models
