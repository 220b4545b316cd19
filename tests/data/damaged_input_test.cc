/// Every reader on damaged input: cut off anywhere, in another encoding, with a line of 100 MB, empty, and cut-off
/// gzip. Each is refused with a sentence, or its damaged records are skipped and counted; nothing else ever happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/data/conll.h"
#include "espalier/data/conllu.h"
#include "espalier/data/csv.h"
#include "espalier/data/json.h"
#include "espalier/data/lattice.h"
#include "espalier/data/molecule.h"
#include "espalier/data/query_plan.h"
#include "espalier/data/sick.h"
#include "espalier/data/text_file.h"
#include "espalier/data/treebank.h"
#include "espalier/data/word_vectors.h"
#include "tests/data/read_all.h"
#include "tests/data/temporary_file.h"

namespace espalier::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// How a reader reads an input. Gives what it read and left out.
using Read = std::function<ReadReport(Input, const ReadOptions&)>;

struct ReaderCase {
  std::string name;
  Read read;
  std::string text;     // two records, without damage
  std::string damaged;  // what makes a record damaged that follows them
  bool needs_rdkit = false;
};

template <class Reader, class... Options>
Read reads(const Options&... options) {
  return [options...](Input input, const ReadOptions& read) {
    Reader reader(std::move(input), options..., read);
    for (typename Reader::Record record; reader.next(record);) continue;
    return reader.report();
  };
}

const std::string kMolecule =
    "methanol\n  made by hand\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n"
    "    1.4000    0.0000    0.0000 O   0  0\n  1  2  1  0\nM  END\n> <y>\n1\n\n$$$$\n";

std::vector<ReaderCase> reader_cases() {
  return {
      {"Treebank", reads<TreebankReader>(TreebankOptions{.labels = 5}), "(3 (2 It) (4 works))\n(1 (2 Not) (1 this))\n",
       "(3 (2 It) (4 works)))\n"},
      {"Conllu", reads<ConlluReader>(ConlluOptions{}),
       "1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tworks\twork\tVERB\t_\t_\t0\troot\t_\t_\n\n"
       "1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n\n",
       "1\tA\ta\tX\t_\t_\t2\tdep\t_\t_\n2\tB\tb\tX\t_\t_\t1\tdep\t_\t_\n\n"},  // a cycle among the heads
      {"Conll", reads<ConllReader>(ConllOptions{}), "Ann B-PER\nsings O\n\nRome B-LOC\n\n", "alone\n\n"},
      {"Sick", reads<SickReader>(), kSickHeader + "1\ta\tb\t4.5\tNEUTRAL\n2\tc\td\t1\tENTAILMENT\n",
       "3\ta\tb\thigh\tNEUTRAL\n"},
      {"Csv", reads<CsvReader>(CsvOptions{}), "a,b\n1,\"x, y\"\n2,z\n", "3\n"},
      {"JsonLines", reads<JsonLinesReader>(), "{\"a\": [1, {\"b\": null}]}\n{\"a\": []}\n", "{\"a\": [1, {\"b\"]}\n"},
      {"QueryPlans", reads<QueryPlanReader>(),
       "{\"Plan\": {\"Node Type\": \"Sort\", \"Plans\": [{\"Node Type\": \"Result\"}]}}\n"
       "[\n  {\"Plan\": {\"Node Type\": \"Result\"}}\n]\n",
       "{\"Plan\": {\"Node Type\": 3}}\n"},
      {"WordVectors", reads<WordVectorReader>(WordVectorOptions{}), "the 1 2 3\nof 4 5 6\n", "and 7 8\n"},
      {"Lexicon", reads<LexiconReader>(), "ab 10 n\ncd 3 v\n", "ef many n\n"},
      {"Smiles", reads<SmilesReader>(), "CCO ethanol\nC\n", "C1CC\n", true},
      {"MoleculeTable", reads<MoleculeTableReader>(MoleculeTableOptions{.targets = {"y"}}), "y,smiles\n1,CCO\n,C\n",
       "1,C(\n", true},
      {"Sdf", reads<SdfReader>(), kMolecule + kMolecule, "no table\n$$$$\n", true},
  };
}

class DamagedInput : public ::testing::TestWithParam<ReaderCase> {
 protected:
  void SetUp() override {
    if (GetParam().needs_rdkit && !rdkit_available())
      GTEST_SKIP() << "built without RDKit (librdkit-dev, libboost-dev)";
  }
  /// Reads a text in both ways; any exception but a DataError, or a UsageError that names the columns of a header,
  /// fails the test. Gives what was skipped, or nothing where the input was refused although damaged records are
  /// skipped.
  static std::optional<ReadReport> read(const std::string& text) {
    read_one_way(text, false);
    return read_one_way(text, true);
  }
  static std::optional<ReadReport> read_one_way(const std::string& text, bool skip_damaged) {
    try {
      return GetParam().read(Input::text(text, "x"), {.skip_damaged = skip_damaged});
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("x:"), HasSubstr("expected")));
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("x has no column"));
    }
    return std::nullopt;
  }
};

TEST_P(DamagedInput, IsRefusedWithItsPlaceOrSkippedAndCounted) {
  const ReaderCase& one = GetParam();
  EXPECT_EQ(one.read(Input::text(one.text, "x"), {}).records, 2);
  EXPECT_THROW(one.read(Input::text(one.text + one.damaged, "x"), {}), DataError);
  const std::optional<ReadReport> report = read(one.text + one.damaged);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->records, 2);
  EXPECT_GE(report->damaged, 1);
}

TEST_P(DamagedInput, MayEndAnywhere) {
  const std::string& text = GetParam().text;
  for (std::size_t size = 0; size < text.size(); ++size) {
    SCOPED_TRACE(size);
    const std::optional<ReadReport> report = read(text.substr(0, size));
    if (report) {
      EXPECT_LE(report->records, 2);
    }
  }
}

TEST_P(DamagedInput, MayBeInAnotherEncoding) {
  const std::string& text = GetParam().text;
  std::string utf16 = "\xFF\xFE";
  for (const char c : text) (utf16 += c) += '\0';
  EXPECT_THROW(GetParam().read(Input::text(utf16, "x"), {}), DataError);
  read(utf16);
  std::string latin = text;  // a letter outside ASCII in the last record
  latin.insert(latin.size() - std::min<std::size_t>(latin.size(), 3), "\xE9");
  EXPECT_THROW(GetParam().read(Input::text(latin, "x"), {}), DataError);
  const std::optional<ReadReport> report = read(latin);
  if (report) {
    EXPECT_GE(report->damaged, 1);
  }
}

TEST_P(DamagedInput, MayHaveALineOf100Megabytes) {
  const std::string long_line = GetParam().text + std::string(100'000'000, 'a') + "\n";
  EXPECT_THROW(GetParam().read(Input::text(long_line, "x"), {}), DataError);
  const std::optional<ReadReport> report = read(long_line);
  if (report) {
    EXPECT_GE(report->damaged, 1);
  }
}

TEST_P(DamagedInput, MayBeEmpty) {
  for (const std::string text : {"", "\n", "\n\n\n"}) {
    const std::optional<ReadReport> report = read(text);
    if (report) {
      EXPECT_EQ(report->records, 0);
    }
  }
}

TEST_P(DamagedInput, MayBeACutOffGzipStream) {
  const TemporaryFile packed("packed.gz", "");
  TextWriter writer(packed.path());
  writer.write(GetParam().text);
  writer.commit();
  EXPECT_EQ(GetParam().read(packed.path(), {}).records, 2);
  const std::string bytes = read_file(packed.path());
  for (std::size_t size = 3; size < bytes.size(); ++size) {
    const TemporaryFile cut("cut.gz", bytes.substr(0, size));
    EXPECT_THROW(GetParam().read(cut.path(), {.skip_damaged = true}), DataError) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, DamagedInput, ::testing::ValuesIn(reader_cases()),
                         [](const ::testing::TestParamInfo<ReaderCase>& one) { return one.param.name; });

}  // namespace
}  // namespace espalier::data
