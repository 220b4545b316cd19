/// What `data describe` finds in files of each format.
#include "espalier/data/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "espalier/base/error.h"
#include "espalier/data/molecule.h"

namespace espalier::data {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class Describe : public ::testing::Test {
 protected:
  Describe() { fs::create_directories(folder_); }
  ~Describe() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path write(const std::string& text) const {
    std::ofstream(folder_ / "file", std::ios::binary) << text;
    return folder_ / "file";
  }
  DataDescription of(const std::string& text, bool skip_damaged = false) const {
    return describe(write(text), {.skip_damaged = skip_damaged});
  }
  /// The sentence with which the text is refused.
  std::string refusal(const std::string& text) const {
    try {
      of(text);
      return "not refused";
    } catch (const DataError& error) {
      return error.what();
    }
  }

  fs::path folder_ = fs::path(::testing::TempDir()) / ("describe_" + std::to_string(::getpid()));
};

TEST_F(Describe, FindsTreebanks) {
  const DataDescription found = of("(3 (2 It) (4 (2 's) (3 good)))\n(1 (2 It) (1 fails))\n(3 (3 Good) (2 It))\n");
  EXPECT_EQ(found.format, DataFormat::kTreebank);
  EXPECT_THAT(found.facts,
              ElementsAre(Pair("trees", "3"), Pair("shape", "binary"), Pair("words per tree", "2 to 3, mean 2.3"),
                          Pair("depth", "1 to 2, mean 1.3"), Pair("distinct words", "5")));
  EXPECT_THAT(found.labels, ElementsAre(Count{"3", 2}, Count{"1", 1}));
  EXPECT_EQ(found.model, "sentiment");
  EXPECT_EQ(of("(S (NP I) (VP (V saw) (NP it) (ADV there)))\n").facts[1].second, "any number of children");
}

TEST_F(Describe, FindsConllu) {
  const std::string sentence =
      "# text = can't stop\n1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tca\tcan\tAUX\tMD\t_\t3\taux\t_\t_\n"
      "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n3\tstop\tstop\tVERB\tVB\t_\t0\troot\t_\t_\n\n";
  const DataDescription found = of(sentence + sentence);
  EXPECT_EQ(found.format, DataFormat::kConllu);
  EXPECT_THAT(found.facts, ElementsAre(Pair("sentences", "2"), Pair("words per sentence", "3 to 3, mean 3.0"),
                                       Pair("words with a head", "6"), Pair("tokens of several words", "2"),
                                       Pair("empty nodes", "0"), Pair("distinct words", "3")));
  EXPECT_THAT(found.labels, ElementsAre(Count{"AUX", 2}, Count{"PART", 2}, Count{"VERB", 2}));
  EXPECT_EQ(found.model, "tagger");
}

TEST_F(Describe, FindsTaggedWordsAndTheirScheme) {
  const DataDescription found = of("EU B-ORG\nrejects O\n\nNew B-LOC\nYork I-LOC\n.  O\n");
  EXPECT_EQ(found.format, DataFormat::kTagged);
  EXPECT_THAT(found.facts, ElementsAre(Pair("sentences", "2"), Pair("words per sentence", "2 to 3, mean 2.5"),
                                       Pair("scheme of spans", "BIO"), Pair("distinct words", "5")));
  EXPECT_THAT(found.labels, ElementsAre(Count{"O", 2}, Count{"B-LOC", 1}, Count{"B-ORG", 1}, Count{"I-LOC", 1}));
  EXPECT_THAT(of("a I-X\nb B-X\n\n").facts[2].second, "IOB1");
  EXPECT_THAT(of("a S-X\nb B-X\nc E-X\n\n").facts[2].second, "BIOES");
  EXPECT_THAT(of("a S-X\nb B-X\nc M-X\nd E-X\n\n").facts[2].second, "BMES");
  EXPECT_THAT(of("a NN\nb VB\n\n").facts[2].second, "none: plain tags");
}

TEST_F(Describe, FindsListOps) {
  const DataDescription found = of("5\t5\n7\t( ( ( [MAX 2 ) 7 ) ] )\n");
  EXPECT_EQ(found.format, DataFormat::kListOps);
  EXPECT_THAT(found.facts[0], Pair("expressions", "2"));
  EXPECT_THAT(found.facts[2], Pair("depth", "0 to 1, mean 0.5"));
  EXPECT_THAT(found.labels, ElementsAre(Count{"5", 1}, Count{"7", 1}));
}

TEST_F(Describe, FindsJsonLinesAndPlans) {
  const DataDescription found = of("{\"a\": 1, \"b\": \"x\"}\n\n{\"a\": 2.5, \"b\": \"y\"}\n");
  EXPECT_EQ(found.format, DataFormat::kJsonLines);
  EXPECT_THAT(found.facts, ElementsAre(Pair("records", "2"), Pair("bytes per record", "18 to 20, mean 19.0")));
  EXPECT_THAT(found.fields, ElementsAre(Count{"b: a string", 2}, Count{"a: a float", 1}, Count{"a: an integer", 1}));
  EXPECT_EQ(found.model, "json");
  const DataDescription plans = of("{\"id\": 1, \"Plan\": {\"Node Type\": \"Seq Scan\"}}\n");
  EXPECT_EQ(plans.format, DataFormat::kQueryPlans);
  EXPECT_EQ(plans.model, "plans");
}

TEST_F(Describe, FindsQueryPlansInAnyForm) {
  const std::string printed =
      "                 QUERY PLAN\n------------------\n [\n   {\n     \"Plan\": {\"Node Type\": \"Sort\",\n"
      "      \"Plans\": [{\"Node Type\": \"Seq Scan\"}]},\n     \"Execution Time\": 2.5\n   }\n ]\n(1 row)\n";
  for (const std::string& text :
       {printed, std::string("{\"explain\": {\"Plan\": {\"Node Type\": \"Sort\", \"Plans\": [{\"Node Type\": "
                             "\"Seq Scan\"}]}, \"Execution Time\": 3}}\n")}) {
    const DataDescription found = of(text);
    EXPECT_EQ(found.format, DataFormat::kQueryPlans);
    EXPECT_THAT(found.facts, ElementsAre(Pair("plans", "1"), Pair("operators per plan", "2 to 2, mean 2.0"),
                                         Pair("plans with a measured time", "1")));
    EXPECT_THAT(found.labels, ElementsAre(Count{"Seq Scan", 1}, Count{"Sort", 1}));
    EXPECT_EQ(found.model, "plans");
  }
}

TEST_F(Describe, FindsTablesAndTheirMolecules) {
  const DataDescription table = of("name,y\n\"a, b\",1.5\nc,\nd,none\n");
  EXPECT_EQ(table.format, DataFormat::kTable);
  EXPECT_THAT(table.facts, ElementsAre(Pair("rows", "3"), Pair("columns", "2")));
  EXPECT_THAT(table.fields, ElementsAre(Count{"name: a text", 3}, Count{"y: a number", 1}, Count{"y: a text", 1}));
  EXPECT_EQ(table.model, "");
  const DataDescription molecules = of("id,SMILES\n1,CCO\n");
  EXPECT_EQ(molecules.format, DataFormat::kMoleculeTable);
  EXPECT_EQ(molecules.model, "molecules");
}

TEST_F(Describe, FindsMoleculesInSdfAndLinesOfSmiles) {
  const std::string sdf =
      "methanol\n  made by hand\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n"
      "    1.4000    0.0000    0.0000 O   0  0\n  1  2  1  0\nM  END\n> <logP>\n-0.77\n\n$$$$\n";
  const fs::path lines = folder_ / "file.smi";
  std::ofstream(lines) << "CCO ethanol\nC\n";
  EXPECT_EQ(guess_format(write(sdf)), DataFormat::kSdf);
  EXPECT_EQ(guess_format(lines), DataFormat::kSmiles);
  if (!rdkit_available()) GTEST_SKIP() << "built without RDKit (librdkit-dev, libboost-dev)";
  const DataDescription structure = of(sdf);
  EXPECT_THAT(structure.facts, ElementsAre(Pair("molecules", "1"), Pair("atoms per molecule", "2 to 2, mean 2.0"),
                                           Pair("bonds per molecule", "1 to 1, mean 1.0")));
  EXPECT_THAT(structure.fields, ElementsAre(Count{"logP: a number", 1}));
  const DataDescription smiles = describe(lines);
  EXPECT_THAT(smiles.labels, ElementsAre(Count{"C", 3}, Count{"O", 1}));
  EXPECT_EQ(smiles.model, "molecules");
}

TEST_F(Describe, FindsSickAsTableAndParsed) {
  const DataDescription table =
      of("pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
         "1\tA dog runs\tA dog is running\t5\tENTAILMENT\n2\tA dog runs\tNo dog runs\t2.5\tCONTRADICTION\n");
  EXPECT_EQ(table.format, DataFormat::kSickTable);
  EXPECT_THAT(table.facts,
              ElementsAre(Pair("pairs", "2"), Pair("mean relatedness", "3.75"), Pair("dependencies", "none")));
  EXPECT_THAT(table.labels, ElementsAre(Count{"CONTRADICTION", 1}, Count{"ENTAILMENT", 1}));
  EXPECT_EQ(table.model, "relatedness");

  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  };
  file("a.toks", "A dog runs\nDogs run\n");
  file("a.parents", "2 3 0\n2 0\n");
  file("a.rels", "det nsubj root\nnsubj root\n");
  file("b.toks", "Run\nDogs run\n");
  file("b.parents", "0\n2 0\n");
  file("b.rels", "root\nnsubj root\n");
  file("sim.txt", "2\n5\n");
  file("id.txt", "1\n2\n");
  const DataDescription parsed = describe(folder_);
  EXPECT_EQ(parsed.format, DataFormat::kSickFolder);
  EXPECT_THAT(parsed.facts, ElementsAre(Pair("pairs", "2"), Pair("mean relatedness", "3.50"),
                                        Pair("words per sentence", "1 to 3, mean 2.0"), Pair("distinct words", "6")));
  EXPECT_THAT(parsed.labels, ElementsAre(Count{"root", 4}, Count{"nsubj", 3}, Count{"det", 1}));
  EXPECT_EQ(parsed.model, "relatedness");
}

TEST_F(Describe, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal("once upon a time\n"), HasSubstr("file:1:1: expected labelled trees"));
  EXPECT_THAT(refusal(""), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal("\n \n"), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal("\xFF\xFE\n"), HasSubstr("file:1:1"));
  EXPECT_THROW(describe(folder_ / "missing"), ResourceError);
}

TEST_F(Describe, CountsDamagedRecords) {
  const std::string trees = "(3 (2 It) (2 is))\n(3 (2 It)\n(1 (2 Not) (1 this))\n";
  EXPECT_THAT(refusal(trees), HasSubstr("file:"));
  const DataDescription found = of(trees, true);
  EXPECT_EQ(found.report.records, 2);
  EXPECT_EQ(found.report.damaged, 1);
  const DataDescription json = of("{\"a\": 1}\n{\"a\": }\n{\"a\": 3}\n", true);
  EXPECT_EQ(json.report.records, 2);
  EXPECT_EQ(json.report.damaged, 1);
}

}  // namespace
}  // namespace espalier::data
