/// Molecules from SMILES and SDF, by RDKit.
///
/// RDKit is optional: Debian's librdkit-dev and libboost-dev, found when Espalier is configured. Without it all that
/// reads molecules throws a UsageError that names the packages; rdkit_available() tells.
///
/// Molecules are sanitised as RDKit does by default: valences are checked, aromatic rings found, hydrogens implicit.
///
/// Thread safety: functions may be called from any thread; a reader belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/csv.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"

namespace espalier::data {

struct MoleculeAtom {
  enum class Chirality : std::uint8_t { kUnspecified, kClockwise, kCounterclockwise, kOther };

  std::int32_t element = 0;    // the atomic number; 0 for "*"
  std::int32_t charge = 0;     // formal
  std::int32_t hydrogens = 0;  // not atoms of their own
  std::int32_t degree = 0;     // bonds to atoms of the molecule
  bool aromatic = false;
  bool in_ring = false;
  Chirality chirality = Chirality::kUnspecified;

  bool operator==(const MoleculeAtom&) const = default;
};

struct MoleculeBond {
  enum class Order : std::uint8_t { kSingle, kDouble, kTriple, kAromatic, kOther };

  std::int32_t a = 0;  // atoms, from 0
  std::int32_t b = 0;
  Order order = Order::kSingle;
  bool in_ring = false;
  bool conjugated = false;

  bool operator==(const MoleculeBond&) const = default;
};

struct Molecule {
  std::vector<MoleculeAtom> atoms;
  std::vector<MoleculeBond> bonds;

  bool operator==(const Molecule&) const = default;
};

/// "C", "Cl", "*" for 0. Refuses (UsageError) a number that is no element's.
ESPALIER_EXPORT std::string_view element_symbol(std::int32_t atomic_number);

/// Whether Espalier was built with RDKit.
ESPALIER_EXPORT bool rdkit_available();

/// The molecule of a SMILES string. `source` begins the text of errors. Refuses (DataError) what RDKit cannot read, and
/// a molecule without atoms.
ESPALIER_EXPORT Molecule parse_smiles(std::string_view smiles, std::string_view source = "SMILES");

struct SmilesRecord {
  std::string smiles;
  std::string name;  // the rest of the line after a space or tab
  Molecule molecule;
};

/// A SMILES string a line, and after it, if anything, a name. Blank lines are left out.
class ESPALIER_EXPORT SmilesReader final : public RecordReader<SmilesRecord> {
 public:
  explicit SmilesReader(Input input, const ReadOptions& options = {});

 private:
  bool read(SmilesRecord& record) override;
  bool skip() override { return lines_.readable(); }

  LineReader lines_;
};

struct MoleculeTableOptions {
  std::string smiles = "smiles";       // the column of the molecules
  std::vector<std::string> targets{};  // the columns of the numbers to predict
  bool needs_targets = true;           // false: a column of targets that is not there is blank in every row
  CsvOptions table{};
};

struct MoleculeRow {
  std::string smiles;  // without spaces around it
  Molecule molecule;
  std::vector<std::optional<double>> targets;  // nothing where the field is blank
};

/// A table with a column of SMILES strings, as MoleculeNet's. Refuses columns that are not there (UsageError), targets
/// that are no numbers, and molecules that RDKit cannot read.
class ESPALIER_EXPORT MoleculeTableReader final : public RecordReader<MoleculeRow> {
 public:
  explicit MoleculeTableReader(Input input, const MoleculeTableOptions& columns, const ReadOptions& options = {});

  /// The names of all columns.
  const std::vector<std::string>& columns() const { return rows_.names(); }

 private:
  bool read(MoleculeRow& record) override;
  bool skip() override { return rows_.readable(); }

  CsvReader rows_;
  CsvRow row_;
  std::size_t smiles_;
  std::vector<std::optional<std::size_t>> targets_;  // nothing for a column that is not there
};

struct SdfRecord {
  std::string name;  // the first line
  Molecule molecule;
  std::vector<std::pair<std::string, std::string>> properties;  // the data items: name and text
};

/// Structure-data files: connection tables (V2000 or V3000) with data items, each ended by a line "$$$$".
class ESPALIER_EXPORT SdfReader final : public RecordReader<SdfRecord> {
 public:
  explicit SdfReader(Input input, const ReadOptions& options = {});

 private:
  bool read(SdfRecord& record) override;
  bool skip() override;
  bool read_lines();
  void read_properties(SdfRecord& record, std::size_t first) const;

  LineReader lines_;
  std::vector<std::string> record_lines_;  // of the record being read, without "$$$$"
  std::int64_t first_line_ = 0;
  bool ended_ = false;  // whether "$$$$" of the record was read
};

}  // namespace espalier::data
