/// What all readers of files have in common: one record after the other, damaged ones refused or skipped and counted.
///
///     data::TreebankReader reader("train.txt", {.labels = 5}, {.skip_damaged = true});
///     for (data::LabelledTree tree; reader.next(tree);) use(tree);
///     if (reader.report().damaged > 0) warn(reader.report().summary());
///
/// Thread safety: a reader belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/export.h"

namespace espalier::data {

struct ReadOptions {
  /// A damaged record is left out and counted; else it ends the reading with a DataError.
  bool skip_damaged = false;
};

struct ESPALIER_EXPORT ReadReport {
  static constexpr std::size_t kMostErrors = 10;

  std::int64_t records = 0;         // read
  std::int64_t damaged = 0;         // left out
  std::vector<std::string> errors;  // of the first kMostErrors that were left out: "file:line:column: expected ..."

  void add_damaged(const DataError& error);
  /// "8543 records read, 1 damaged left out", and a line for each error.
  std::string summary() const;
};

/// A stream of records of one type. A format is a subclass, which says how to read the next record and where to go on
/// after a damaged one.
template <class RecordType>
class RecordReader {
 public:
  using Record = RecordType;

  explicit RecordReader(const ReadOptions& options) : options_(options) {}
  virtual ~RecordReader() = default;
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// Replaces `record` by the next one; false at the end, and ever after. Memory of the record is used again.
  ///
  /// Refuses a damaged record (DataError, "file:line:column: expected ...") unless those are skipped, and input that
  /// cannot be read further (ResourceError; DataError for gzip). After an exception `record` has any content.
  bool next(Record& record) {
    while (true) {
      try {
        if (!read(record)) return false;
        ++report_.records;
        return true;
      } catch (const DataError& error) {
        if (!options_.skip_damaged || !skip()) throw;
        report_.add_damaged(error);
      }
    }
  }

  /// The record that was read last turned out to be damaged: leaves it out if damaged ones are skipped, else throws the
  /// error.
  void refuse(const DataError& error) {
    if (!options_.skip_damaged) throw DataError(error);
    --report_.records;
    report_.add_damaged(error);
  }

  /// All that are left.
  std::vector<Record> read_all() {
    std::vector<Record> records;
    for (Record record; next(record);) records.push_back(std::move(record));
    return records;
  }

  /// What was read and left out so far.
  const ReadReport& report() const { return report_; }

 protected:
  /// Reads one record; false at the end. Throws DataError if it is damaged.
  virtual bool read(Record& record) = 0;
  /// Called after read() refused a record: moves on to where the next one may begin. False if nothing more can be read,
  /// so that the error is no matter of one record.
  virtual bool skip() = 0;

 private:
  ReadOptions options_;
  ReadReport report_;
};

}  // namespace espalier::data
