/// What a file of data holds: its format, its counts, its labels, and which of the command's models it fits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/record_reader.h"

namespace espalier::data {

enum class DataFormat {
  kUnknown,
  kTreebank,
  kConllu,
  kTagged,
  kListOps,
  kJsonLines,
  kQueryPlans,
  kSickTable,
  kSickFolder,
  kTable,          // columns with a header
  kMoleculeTable,  // one with a column of SMILES strings
  kSmiles,
  kSdf
};
/// "labelled trees in brackets", "CoNLL-U".
ESPALIER_EXPORT std::string_view name_of(DataFormat format);

/// The format that the first 200 lines look like; of a folder, the one that its files have. Lines of SMILES are known
/// by the name of their file (.smi, .smiles) and tables with tabs by theirs (.tsv, .tab). Refuses (ResourceError) a
/// file that cannot be read, and (DataError) one that is not text in UTF-8.
ESPALIER_EXPORT DataFormat guess_format(const std::filesystem::path& path);

/// How often something occurs.
struct Count {
  std::string name;
  std::int64_t count = 0;

  bool operator==(const Count&) const = default;
};

struct DataDescription {
  DataFormat format = DataFormat::kUnknown;
  /// Names and values, in the order in which they are to be shown.
  std::vector<std::pair<std::string, std::string>> facts;
  /// What `labels` counts: "labels of the roots"; the most frequent first.
  std::string labels_of;
  std::vector<Count> labels;
  /// Of JSON and tables: a field and the kinds of its values, by how many records have it.
  std::vector<Count> fields;
  /// The model that reads this format; empty if none does.
  std::string model;
  ReadReport report;
};

/// Reads the whole file or folder once. Refuses a file of an unknown format (DataError, with the first line), what
/// guess_format() refuses, and damaged records unless `options` skip them.
ESPALIER_EXPORT DataDescription describe(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace espalier::data
