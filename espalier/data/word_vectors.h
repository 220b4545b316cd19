/// Word vectors in text: GloVe (a word and its numbers a line) and word2vec (the same after a line "count dimension").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"
#include "espalier/data/vocabulary.h"

namespace espalier::data {

struct WordVector {
  std::string word;
  std::vector<float> values;

  bool operator==(const WordVector&) const = default;
};

struct WordVectorOptions {
  enum class Header {
    kAuto,  // the first line is a header if it has two fields, both whole numbers
    kAbsent,
    kPresent,
  };

  Header header = Header::kAuto;
  /// Refuse vectors of another size. 0: as the header or the first vector says.
  std::int32_t dimension = 0;
  /// If not null, which must outlive the reader: vectors of other words are passed over without reading their numbers.
  const Vocabulary* only = nullptr;
};

/// The numbers are the last fields of a line; the word is the text before them, and may hold spaces. Refuses a line
/// with fewer or more numbers, numbers that are not finite, and another number of vectors than the header promises.
class ESPALIER_EXPORT WordVectorReader final : public RecordReader<WordVector> {
 public:
  explicit WordVectorReader(Input input, const WordVectorOptions& vectors = {}, const ReadOptions& options = {});

  /// 0 until a header or vector was read.
  std::int32_t dimension() const { return static_cast<std::int32_t>(dimension_); }

 private:
  bool read(WordVector& record) override;
  bool skip() override { return lines_.readable(); }
  bool read_header(std::string_view line);
  bool read_vector(WordVector& record, std::string_view line);
  std::size_t values_begin(std::string_view line) const;
  void read_values(std::vector<float>& values, std::string_view line, std::size_t begin) const;
  void check_count();

  LineReader lines_;
  WordVectorOptions options_;
  std::size_t dimension_ = 0;
  std::int64_t promised_ = -1;  // by the header
  std::int64_t count_ = 0;      // lines with vectors so far, also damaged ones and those passed over
};

/// The vectors of a vocabulary's words, as rows of a matrix.
struct WordVectorTable {
  std::int32_t dimension = 0;
  std::vector<float> values;  // of word 0, then of word 1, ...; zeros for words without a vector
  std::vector<bool> found;    // by word
  std::int32_t found_count = 0;
  ReadReport report;
};

/// Reads the vectors of the vocabulary's words and passes over all others. Of a word with several vectors the first
/// counts. Refuses also (DataError) a file without vectors.
ESPALIER_EXPORT WordVectorTable read_word_vectors(Input input, const Vocabulary& words,
                                                  const WordVectorOptions& vectors = {},
                                                  const ReadOptions& options = {});

}  // namespace espalier::data
