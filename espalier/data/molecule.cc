#include "espalier/data/molecule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "espalier/base/error.h"
#include "espalier/data/molecule_rdkit.h"
#include "espalier/data/number_text.h"
#include "espalier/data/text_file.h"

namespace espalier::data {
namespace {

constexpr std::array<std::string_view, 119> kElements = {
    "*",  "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",
    "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As",
    "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn",
    "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho",
    "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po",
    "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md",
    "No", "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};

constexpr std::size_t kMolHeader = 4;  // lines before the atoms of a connection table

// Of a SMILES string; longer ones are no molecules, and RDKit's parser recurses.
constexpr std::size_t kLongestSmiles = 100'000;

std::string smiles_refusal(std::string_view smiles, std::string_view reason) {
  return fmt::format("expected a SMILES string that RDKit reads, not {}: {}", data::quoted(smiles), reason);
}

Molecule molecule_of_smiles(std::string_view smiles, std::string& error) {
  if (smiles.size() > kLongestSmiles) {
    error = fmt::format("it is longer than {} bytes", kLongestSmiles);
    return {};
  }
  // RDKit would take what is after a space as a name.
  RdkitResult result = smiles.find_first_of(" \t") != std::string_view::npos ? RdkitResult{{}, "there is a space in it"}
                                                                             : rdkit_from_smiles(std::string(smiles));
  error = std::move(result.error);
  return std::move(result.molecule);
}

}  // namespace

std::string_view element_symbol(std::int32_t atomic_number) {
  if (atomic_number < 0 || static_cast<std::size_t>(atomic_number) >= kElements.size())
    throw UsageError(fmt::format("molecules: no element has the atomic number {}", atomic_number));
  return kElements[static_cast<std::size_t>(atomic_number)];
}

Molecule parse_smiles(std::string_view smiles, std::string_view source) {
  require_rdkit();
  std::string error;
  Molecule molecule = molecule_of_smiles(smiles, error);
  if (!error.empty()) throw DataError(fmt::format("{}: {}", source, smiles_refusal(smiles, error)));
  return molecule;
}

SmilesReader::SmilesReader(Input input, const ReadOptions& options) : RecordReader(options), lines_(std::move(input)) {
  require_rdkit();
}

bool SmilesReader::read(SmilesRecord& record) {
  constexpr std::string_view kBlanks = " \t";
  std::string_view line;
  std::size_t begin = std::string_view::npos;
  while (begin == std::string_view::npos) {
    if (!lines_.next(line)) return false;
    begin = line.find_first_not_of(kBlanks);
  }
  const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
  record.smiles = line.substr(begin, end - begin);
  record.name = line.substr(std::min(line.find_first_not_of(kBlanks, end), line.size()));
  std::string error;
  record.molecule = molecule_of_smiles(record.smiles, error);
  if (!error.empty()) throw lines_.error_at(begin + 1, smiles_refusal(record.smiles, error));
  return true;
}

MoleculeTableReader::MoleculeTableReader(Input input, const MoleculeTableOptions& columns, const ReadOptions& options)
    : RecordReader(options), rows_(std::move(input), columns.table), smiles_(rows_.column(columns.smiles)) {
  require_rdkit();
  for (const std::string& target : columns.targets) {
    const std::vector<std::string>& names = rows_.names();
    const bool is_there = std::find(names.begin(), names.end(), target) != names.end();
    if (is_there || columns.needs_targets)
      targets_.emplace_back(rows_.column(target));
    else
      targets_.emplace_back(std::nullopt);
  }
}

bool MoleculeTableReader::read(MoleculeRow& record) {
  if (!rows_.next(row_)) return false;
  record.targets.clear();
  for (const std::optional<std::size_t> target : targets_) {
    const std::string_view text = target ? std::string_view(row_[*target]) : std::string_view();
    const std::optional<double> number = number_in<double>(text);
    if (!number && !text.empty())
      throw rows_.error_at(*target, fmt::format("expected a number or nothing in the column {}, not {}",
                                                rows_.names()[*target], data::quoted(text)));
    record.targets.push_back(number);
  }
  std::string_view smiles = row_[smiles_];
  smiles.remove_prefix(std::min(smiles.find_first_not_of(' '), smiles.size()));
  smiles = smiles.substr(0, smiles.find_last_not_of(' ') + 1);
  std::string error;
  record.molecule = molecule_of_smiles(smiles, error);
  if (!error.empty()) throw rows_.error_at(smiles_, smiles_refusal(smiles, error));
  record.smiles = smiles;
  return true;
}

SdfReader::SdfReader(Input input, const ReadOptions& options) : RecordReader(options), lines_(std::move(input)) {
  require_rdkit();
}

// False if there is no record any more.
bool SdfReader::read_lines() {
  record_lines_.clear();
  ended_ = false;
  first_line_ = lines_.line_number() + 1;
  bool blank = true;
  std::size_t bytes = 0;
  for (std::string_view line; lines_.next(line);) {
    ended_ = line == "$$$$";
    if (ended_) return true;
    blank = blank && line.find_first_not_of(" \t") == std::string_view::npos;
    bytes += line.size() + 1;
    if (bytes > LineReader::kLongestLine)
      throw lines_.error_at(first_line_, 1, "expected \"$$$$\" to end the record within 16 MiB");
    record_lines_.emplace_back(line);
  }
  ended_ = true;
  if (blank) return false;
  throw lines_.error_at(lines_.line_number() + 1, 1,
                        fmt::format("expected \"$$$$\" to end the record that begins in line {}", first_line_));
}

bool SdfReader::skip() {
  if (ended_) return lines_.readable();
  const bool readable = lines_.skip_to([](std::string_view line) { return line == "$$$$"; });
  std::string_view end;
  if (readable) lines_.next(end);
  return readable;
}

bool SdfReader::read(SdfRecord& record) {
  if (!read_lines()) return false;
  const auto end = std::find_if(record_lines_.begin(), record_lines_.end(),
                                [](const std::string& line) { return line.starts_with("M  END"); });
  const auto table_lines = static_cast<std::size_t>(end - record_lines_.begin());
  if (end == record_lines_.end() || table_lines < kMolHeader)
    throw lines_.error_at(lines_.line_number(), 1,
                          fmt::format("expected \"M  END\" in the record that begins in line {}", first_line_));
  std::string block;
  for (std::size_t l = 0; l <= table_lines; ++l) block += record_lines_[l] + "\n";
  RdkitResult result = rdkit_from_mol_block(block);
  if (!result.error.empty())
    throw lines_.error_at(first_line_, 1,
                          fmt::format("expected a connection table that RDKit reads: {}", result.error));
  record.molecule = std::move(result.molecule);
  record.name = record_lines_.front();
  read_properties(record, table_lines + 1);
  return true;
}

// ">  <name>", then lines of text up to a blank one.
void SdfReader::read_properties(SdfRecord& record, std::size_t first) const {
  record.properties.clear();
  for (std::size_t l = first; l < record_lines_.size(); ++l) {
    const std::string& line = record_lines_[l];
    if (line.empty()) continue;
    const std::size_t begin = line.find('<');
    const std::size_t end = line.rfind('>');
    if (line[0] != '>' || begin == std::string::npos || end <= begin)
      throw lines_.error_at(first_line_ + static_cast<std::int64_t>(l), 1,
                            fmt::format("expected a data item \"> <name>\", not {}", data::quoted(line)));
    std::string text;
    for (++l; l < record_lines_.size() && !record_lines_[l].empty(); ++l)
      text += (text.empty() ? "" : "\n") + record_lines_[l];
    record.properties.emplace_back(line.substr(begin + 1, end - begin - 1), std::move(text));
  }
}

}  // namespace espalier::data
