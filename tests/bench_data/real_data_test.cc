/// What the benchmark reads from real files, word for word: a change of the readers must not change its inputs, or its
/// figures could not be compared with earlier ones.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/data/sets.h"
#include "espalier/data/molecule.h"
#include "tests/support/data_folder.h"

namespace espalier::bench {
namespace {

/// FNV-1a over numbers.
class Digest {
 public:
  void add(std::int32_t number) {
    for (int byte = 0; byte < 4; ++byte)
      hash_ = (hash_ ^ (static_cast<std::uint32_t>(number) >> (8 * byte) & 0xFFU)) * 0x100000001b3U;
  }
  void add(float number) { add(std::bit_cast<std::int32_t>(number)); }
  void add(const std::vector<std::int32_t>& numbers) {
    add(static_cast<std::int32_t>(numbers.size()));
    for (const std::int32_t number : numbers) add(number);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

class RealData : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::data_folder();
    if (folder_.empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

TEST_F(RealData, SentimentTreesStayTheSame) {
  Digest digest;
  for (const BinaryTree& tree : sentiment_trees(folder()).instances)
    for (const BinaryTree::Node& node : tree.nodes)
      for (const std::int32_t number : {node.left, node.right, node.word, node.label}) digest.add(number);
  EXPECT_EQ(digest.value(), 13250990564304310408U);
}

TEST_F(RealData, SentencesStayTheSame) {
  Digest digest;
  for (const TaggedSentence& sentence : tagged_sentences(folder()).instances) {
    digest.add(sentence.words);
    digest.add(sentence.tags);
    for (const std::vector<std::int32_t>& characters : sentence.characters) digest.add(characters);
  }
  EXPECT_EQ(digest.value(), 8215194387526484225U);
}

TEST_F(RealData, DependencyTreesStayTheSame) {
  Digest digest;
  for (const DependencyTree& tree : dependency_trees(folder()).instances)
    for (const DependencyTree::Node& node : tree.nodes) {
      digest.add(node.word);
      digest.add(node.label);
      digest.add(node.children);
    }
  EXPECT_EQ(digest.value(), 7489555822088091979U);
}

TEST_F(RealData, LatticesStayTheSame) {
  Digest digest;
  for (const Lattice& lattice : word_lattices(folder()).instances) {
    digest.add(lattice.characters);
    digest.add(lattice.labels);
    for (const Lattice::Word& word : lattice.words)
      for (const std::int32_t number : {word.begin, word.end, word.word}) digest.add(number);
  }
  EXPECT_EQ(digest.value(), 11082359150507419498U);
}

TEST_F(RealData, PlansStayTheSame) {
  Digest digest;
  for (const QueryPlan& plan : query_plans(folder()).instances)
    for (const QueryPlan::Node& node : plan.nodes) {
      for (const std::int32_t number : {node.kind, node.left, node.right}) digest.add(number);
      for (const float feature : node.features) digest.add(feature);
      digest.add(node.target);
    }
  EXPECT_EQ(digest.value(), 17916507829664891000U);
}

// RDKit finds aromatic rings itself, however they are written.
TEST_F(RealData, MoleculesStayTheSame) {
  if (!data::rdkit_available()) GTEST_SKIP() << "built without RDKit (librdkit-dev, libboost-dev)";
  Digest digest;
  for (const Molecule& molecule : molecules(folder()).instances) {
    digest.add(molecule.atoms);
    for (const Molecule::Bond& bond : molecule.bonds)
      for (const std::int32_t number : {bond.a, bond.b, bond.kind}) digest.add(number);
    digest.add(molecule.target);
  }
  EXPECT_EQ(digest.value(), 7724991235716445979U);
}

}  // namespace
}  // namespace espalier::bench
