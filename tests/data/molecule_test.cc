/// Molecules from SMILES, tables and SDF. Without RDKit these tests skip themselves, but for the error that says so.
#include "espalier/data/molecule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/data/read_all.h"
#include "tests/support/data_folder.h"

namespace espalier::data {
namespace {

using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;
using Chirality = MoleculeAtom::Chirality;
using BondOrder = MoleculeBond::Order;

class Molecules : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!rdkit_available()) GTEST_SKIP() << "built without RDKit (librdkit-dev, libboost-dev)";
  }
};

TEST(Rdkit, ItsPackagesAreNamedIfItIsMissing) {
  if (rdkit_available()) GTEST_SKIP() << "built with RDKit";
  const std::string expected =
      "molecules: Espalier was built without RDKit; install librdkit-dev and libboost-dev, then configure and build "
      "again";
  EXPECT_EQ(refusal_of<UsageError>([] { parse_smiles("C"); }), expected);
  EXPECT_EQ(refusal_of<UsageError>([] { SmilesReader(Input::text("C", "x")); }), expected);
  EXPECT_EQ(refusal_of<UsageError>([] { SdfReader(Input::text("C", "x")); }), expected);
  EXPECT_EQ(refusal_of<UsageError>([] { MoleculeTableReader(Input::text("smiles\n", "x"), {}); }), expected);
}

TEST(Rdkit, ElementsHaveSymbols) {
  EXPECT_EQ(element_symbol(0), "*");
  EXPECT_EQ(element_symbol(6), "C");
  EXPECT_EQ(element_symbol(118), "Og");
  EXPECT_THROW(element_symbol(119), UsageError);
}

TEST_F(Molecules, HaveAtomsAndBonds) {
  const Molecule acid = parse_smiles("C[C@@H]([NH3+])C(=O)[O-]");  // alanine
  ASSERT_EQ(acid.atoms.size(), 6U);
  EXPECT_EQ(acid.atoms[0], (MoleculeAtom{.element = 6, .hydrogens = 3, .degree = 1}));
  EXPECT_EQ(acid.atoms[1].degree, 3);
  EXPECT_EQ(acid.atoms[1].hydrogens, 1);
  EXPECT_NE(acid.atoms[1].chirality, Chirality::kUnspecified);
  EXPECT_NE(acid.atoms[1].chirality, parse_smiles("C[C@H]([NH3+])C(=O)[O-]").atoms[1].chirality);
  EXPECT_EQ(acid.atoms[2], (MoleculeAtom{.element = 7, .charge = 1, .hydrogens = 3, .degree = 1}));
  EXPECT_EQ(acid.atoms[5].charge, -1);
  EXPECT_THAT(acid.bonds, ElementsAre(MoleculeBond{0, 1}, MoleculeBond{1, 2}, MoleculeBond{1, 3},
                                      MoleculeBond{.a = 3, .b = 4, .order = BondOrder::kDouble, .conjugated = true},
                                      MoleculeBond{.a = 3, .b = 5, .conjugated = true}));
}

TEST_F(Molecules, RingsAreAromaticHoweverTheyAreWritten) {
  const Molecule benzene = parse_smiles("c1ccccc1");
  EXPECT_EQ(benzene.atoms, parse_smiles("C1=CC=CC=C1").atoms);
  for (const MoleculeAtom& atom : benzene.atoms)
    EXPECT_EQ(atom, (MoleculeAtom{.element = 6, .hydrogens = 1, .degree = 2, .aromatic = true, .in_ring = true}));
  for (const MoleculeBond& bond : benzene.bonds)
    EXPECT_TRUE(bond.order == BondOrder::kAromatic && bond.in_ring && bond.conjugated);
  EXPECT_EQ(parse_smiles("C#N").bonds.at(0).order, BondOrder::kTriple);
}

TEST_F(Molecules, ThatCannotBeAreRefused) {
  EXPECT_EQ(refusal_of<DataError>([] { parse_smiles("C1CC"); }),
            "SMILES: expected a SMILES string that RDKit reads, not \"C1CC\": the syntax is wrong");
  EXPECT_THAT(
      refusal_of<DataError>([] { parse_smiles("C(C)(C)(C)(C)C"); }),
      StartsWith("SMILES: expected a SMILES string that RDKit reads, not \"C(C)(C)(C)(C)C\": Explicit valence"));
  EXPECT_THAT(refusal_of<DataError>([] { parse_smiles(""); }), EndsWith("not \"\": there are no atoms"));
  EXPECT_THAT(refusal_of<DataError>([] { parse_smiles("C C"); }), EndsWith("there is a space in it"));
  EXPECT_THAT(refusal_of<DataError>([] { parse_smiles(std::string(100'001, 'C')); }),
              EndsWith("it is longer than 100000 bytes"));
}

TEST_F(Molecules, StandOneALine) {
  SmilesReader reader(Input::text("CCO ethanol, 96 %\n\n C1CC\n\xFF\nO\n", "x"), {.skip_damaged = true});
  const std::vector<SmilesRecord> records = reader.read_all();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].name, "ethanol, 96 %");
  EXPECT_EQ(records[0].molecule.atoms.size(), 3U);
  EXPECT_EQ(records[1].smiles, "O");
  EXPECT_THAT(reader.report().errors,
              ElementsAre(StartsWith("x:3:2: expected a SMILES string"), StartsWith("x:4:1: expected text in UTF-8")));
}

TEST_F(Molecules, StandInTables) {
  const MoleculeTableOptions columns{.smiles = "mol", .targets = {"y", "z"}};
  const std::string table = "y,mol,z\n1.5,CCO ,\n,C,-2\n";
  MoleculeTableReader reader(Input::text(table, "x"), columns);
  const std::vector<MoleculeRow> rows = reader.read_all();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].smiles, "CCO");
  EXPECT_THAT(rows[0].targets, ElementsAre(1.5, std::nullopt));
  EXPECT_THAT(rows[1].targets, ElementsAre(std::nullopt, -2.0));
  EXPECT_EQ(refusal_of_text<MoleculeTableReader>(table + "high,C,1\n", columns),
            "x:4:1: expected a number or nothing in the column y, not \"high\"");
  EXPECT_THAT(refusal_of_text<MoleculeTableReader>(table + "1,C(C,1\n", columns),
              StartsWith("x:4:3: expected a SMILES string that RDKit reads, not \"C(C\""));
  EXPECT_EQ(skip_counts<MoleculeTableReader>(table + "1,\n1,C(,1\n2,C,2\n", columns), "3/2");
  EXPECT_THROW(records_of<MoleculeTableReader>("a\n", columns), UsageError);
}

TEST_F(Molecules, MayStandInTablesWithoutTheirTargets) {
  EXPECT_THROW(records_of<MoleculeTableReader>("smiles\nC\n", MoleculeTableOptions{.targets = {"y"}}), UsageError);
  MoleculeTableReader reader(Input::text("z,smiles\n3,C\n", "x"), {.targets = {"y", "z"}, .needs_targets = false});
  EXPECT_THAT(reader.columns(), ElementsAre("z", "smiles"));
  MoleculeRow row;
  ASSERT_TRUE(reader.next(row));
  EXPECT_THAT(row.targets, ElementsAre(std::nullopt, 3.0));
}

const std::string kMethanol =
    "methanol\n  made by hand\n\n"
    "  2  1  0  0  0  0  0  0  0  0999 V2000\n"
    "    0.0000    0.0000    0.0000 C   0  0\n"
    "    1.4000    0.0000    0.0000 O   0  0\n"
    "  1  2  1  0\n"
    "M  END\n";

TEST_F(Molecules, StandInSdf) {
  const std::string text = kMethanol + "> <logP>\n-0.77\n\n>  25  <note>\ntwo\nlines\n\n$$$$\n" + kMethanol + "$$$$\n";
  const std::vector<SdfRecord> records = records_of<SdfReader>(text);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].name, "methanol");
  EXPECT_EQ(records[0].molecule, parse_smiles("CO"));
  EXPECT_THAT(records[0].properties, ElementsAre(std::pair<std::string, std::string>("logP", "-0.77"),
                                                 std::pair<std::string, std::string>("note", "two\nlines")));
}

TEST_F(Molecules, InDamagedSdfAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal_of_text<SdfReader>(kMethanol), "x:9:1: expected \"$$$$\" to end the record that begins in line 1");
  EXPECT_EQ(refusal_of_text<SdfReader>("a\nb\n$$$$\n"),
            "x:3:1: expected \"M  END\" in the record that begins in line 1");
  EXPECT_THAT(refusal_of_text<SdfReader>("\n\n\n 9 9 V2000\nM  END\n$$$$\n"),
              StartsWith("x:1:1: expected a connection table that RDKit reads: "));
  EXPECT_EQ(refusal_of_text<SdfReader>(kMethanol + "logP\n1\n$$$$\n"),
            "x:9:1: expected a data item \"> <name>\", not \"logP\"");
  SdfReader reader(Input::text("a\n$$$$\n" + kMethanol + "$$$$\n\n\xFF\nM  END\n$$$$\n" + kMethanol + "$$$$\n\n", "x"),
                   {.skip_damaged = true});
  EXPECT_EQ(reader.read_all().size(), 2U);
  EXPECT_EQ(reader.report().damaged, 2);
}

TEST_F(Molecules, OfMoleculeNetAreRead) {
  if (testing::data_folder().empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  const auto counts = [](const std::string& name, const MoleculeTableOptions& columns) {
    MoleculeTableReader reader(testing::data_folder() / "molecules" / name, columns, {.skip_damaged = true});
    for (MoleculeRow row; reader.next(row);) continue;
    return std::to_string(reader.report().records) + "/" + std::to_string(reader.report().damaged);
  };
  EXPECT_EQ(counts("delaney-processed.csv", {.targets = {"measured log solubility in mols per litre"}}), "1128/0");
  EXPECT_EQ(counts("SAMPL.csv", {.targets = {"expt"}}), "642/0");
  EXPECT_EQ(counts("Lipophilicity.csv", {.targets = {"exp"}}), "4200/0");
  EXPECT_EQ(counts("BBBP.csv", {.targets = {"BBBP"}}), "2039/11");  // as published
}

}  // namespace
}  // namespace espalier::data
