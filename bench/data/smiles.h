/// The graph of a SMILES string (Weininger, 1988): atoms, bonds, branches and ring closures. No chemistry: hydrogens,
/// chirality and isotopes are left out, and nothing is checked but the syntax.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/data/instances.h"

namespace espalier::bench {

inline constexpr std::int32_t kBondKinds = 4;  // single, double, triple, aromatic

struct SmilesGraph {
  std::vector<std::string> atoms;  // as "C", "c" (aromatic), "N+"
  std::vector<Molecule::Bond> bonds;
};

/// What is wrong with a SMILES string, and where: a place from 0.
class SmilesError : public std::runtime_error {
 public:
  SmilesError(std::size_t place, const std::string& message) : std::runtime_error(message), place_(place) {}
  std::size_t place() const { return place_; }

 private:
  std::size_t place_;
};

SmilesGraph parse_smiles(std::string_view text);

}  // namespace espalier::bench
