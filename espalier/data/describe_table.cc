// Descriptions of tables and of molecules.
#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/data/csv.h"
#include "espalier/data/describe_parts.h"
#include "espalier/data/molecule.h"
#include "espalier/data/number_text.h"

namespace espalier::data {
namespace {

/// What a reader of molecules gives, by numbers of atoms and bonds and by elements.
class MoleculeFacts {
 public:
  void take(const Molecule& molecule) {
    atoms_.take(std::ssize(molecule.atoms));
    bonds_.take(std::ssize(molecule.bonds));
    for (const MoleculeAtom& atom : molecule.atoms) ++elements_[std::string(element_symbol(atom.element))];
  }
  void put(const ReadReport& report, DataDescription& result) const {
    result.report = report;
    result.facts = {{"molecules", fmt::format("{}", report.records)},
                    {"atoms per molecule", atoms_.text()},
                    {"bonds per molecule", bonds_.text()}};
    result.labels_of = "elements (without hydrogen)";
    result.labels = sorted(elements_);
    result.model = "molecules";
  }

 private:
  Extent atoms_;
  Extent bonds_;
  Tally elements_;
};

}  // namespace

void describe_table(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  CsvReader reader(path, table_options(path.string()), options);
  Tally fields;
  for (CsvRow row; reader.next(row);)
    for (std::size_t column = 0; column < row.size(); ++column) {
      const bool is_number = number_in<double>(row[column]).has_value();
      if (!row[column].empty())
        ++fields[fmt::format("{}: {}", reader.names()[column], is_number ? "a number" : "a text")];
    }
  result.report = reader.report();
  result.facts = {{"rows", fmt::format("{}", reader.report().records)},
                  {"columns", fmt::format("{}", reader.names().size())}};
  result.fields = sorted(fields);
  if (result.format == DataFormat::kMoleculeTable) result.model = "molecules";
}

void describe_molecules(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  MoleculeFacts facts;
  if (result.format == DataFormat::kSmiles) {
    SmilesReader reader(path, options);
    for (SmilesRecord record; reader.next(record);) facts.take(record.molecule);
    facts.put(reader.report(), result);
    return;
  }
  SdfReader reader(path, options);
  Tally fields;
  for (SdfRecord record; reader.next(record);) {
    facts.take(record.molecule);
    for (const auto& [name, text] : record.properties)
      ++fields[fmt::format("{}: {}", name, number_in<double>(text) ? "a number" : "a text")];
  }
  facts.put(reader.report(), result);
  result.fields = sorted(fields);
}

}  // namespace espalier::data
