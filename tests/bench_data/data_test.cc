/// The data sets, real and generated: whole, and with the statistics that their generators promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

#include "bench/data/sets.h"
#include "espalier/data/molecule.h"
#include "tests/bench_data/data_statistics.h"
#include "tests/support/data_folder.h"

namespace espalier::bench {
namespace {

/// Every test runs on generated data and, where there is any, on real data.
class Data : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) return;
    folder_ = testing::data_folder();
    if (folder_.empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

INSTANTIATE_TEST_SUITE_P(Sets, Data, ::testing::Bool(),
                         [](const auto& set) { return set.param ? "Real" : "Generated"; });

void expect_near(double value, double expected, double share) { EXPECT_NEAR(value, expected, share * expected); }

void expect_within(std::int32_t value, std::int32_t count) {
  ASSERT_GE(value, 0);
  ASSERT_LT(value, count);
}

TEST_P(Data, SentimentTreesAreBinaryAndOfTheTreebanksSize) {
  const DataSet<BinaryTree> set = sentiment_trees(folder());
  EXPECT_EQ(set.real, GetParam());
  EXPECT_EQ(set.instances.size(), 8544U);
  EXPECT_EQ(set.words, 18'280);
  EXPECT_EQ(set.labels, 5);
  for (const BinaryTree& tree : set.instances)
    for (std::size_t v = 0; v < tree.nodes.size(); ++v) {
      const BinaryTree::Node& node = tree.nodes[v];
      expect_within(node.label, set.labels);
      if (node.is_leaf()) {
        expect_within(node.word, set.words);
      } else {
        expect_within(node.left, static_cast<std::int32_t>(v));
        expect_within(node.right, static_cast<std::int32_t>(v));
      }
    }
  const auto words = [](const BinaryTree& tree) {
    std::vector<std::int32_t> result;
    for (const BinaryTree::Node& node : tree.nodes)
      if (node.is_leaf()) result.push_back(node.word);
    return result;
  };
  const auto levels = [](const BinaryTree& tree) {
    return levels_of(tree.nodes, [](const auto& node) { return std::array{node.left, node.right}; });
  };
  expect_near(mean_of(set.instances, [&](const auto& tree) { return words(tree).size(); }), 19.1, 0.03);
  expect_near(mean_of(set.instances, [](const auto& tree) { return tree.nodes.size(); }), 37.3, 0.03);
  expect_near(mean_of(set.instances, levels), 10.8, 0.05);
  EXPECT_NEAR(distinct_share(set.instances, words), 0.51, 0.03);
}

TEST_P(Data, SentencesHaveCharactersForRareWords) {
  const DataSet<TaggedSentence> set = tagged_sentences(folder());
  EXPECT_EQ(set.real, GetParam());
  EXPECT_EQ(set.instances.size(), 12'544U);
  EXPECT_EQ(set.words, 19'674);
  EXPECT_EQ(set.labels, 17);
  EXPECT_EQ(set.characters, 101);
  double rare = 0;
  double spelling = 0;
  double all = 0;
  for (const TaggedSentence& sentence : set.instances) {
    ASSERT_EQ(sentence.tags.size(), sentence.words.size());
    ASSERT_EQ(sentence.characters.size(), sentence.words.size());
    for (std::size_t w = 0; w < sentence.words.size(); ++w) {
      expect_within(sentence.words[w], set.words);
      expect_within(sentence.tags[w], set.labels);
      for (const std::int32_t character : sentence.characters[w]) expect_within(character, set.characters);
      ++all;
      if (sentence.characters[w].empty()) continue;
      ++rare;
      spelling += static_cast<double>(sentence.characters[w].size());
    }
  }
  expect_near(all / static_cast<double>(set.instances.size()), 16.3, 0.05);
  expect_near(rare / all, 0.137, 0.05);
  expect_near(spelling / rare, 7.2, 0.05);
  EXPECT_NEAR(distinct_share(set.instances, [](const auto& sentence) { return sentence.words; }), 0.52, 0.03);
}

TEST_P(Data, DependencyTreesAreFlatAndUneven) {
  const DataSet<DependencyTree> set = dependency_trees(folder());
  EXPECT_EQ(set.real, GetParam());
  EXPECT_EQ(set.instances.size(), 12'544U);
  EXPECT_EQ(set.words, 19'674);
  EXPECT_EQ(set.labels, 51);
  double leaves = 0;
  double all = 0;
  for (const DependencyTree& tree : set.instances) {
    std::vector<int> parents(tree.nodes.size(), 0);
    for (std::size_t v = 0; v < tree.nodes.size(); ++v) {
      const DependencyTree::Node& node = tree.nodes[v];
      expect_within(node.word, set.words);
      expect_within(node.label, set.labels);
      ++all;
      if (node.children.empty()) ++leaves;
      for (const std::int32_t child : node.children) {
        expect_within(child, static_cast<std::int32_t>(v));
        ++parents[static_cast<std::size_t>(child)];
      }
    }
    for (std::size_t v = 0; v < tree.nodes.size(); ++v) ASSERT_EQ(parents[v], v + 1 < tree.nodes.size() ? 1 : 0);
  }
  const auto levels = [](const DependencyTree& tree) {
    return levels_of(tree.nodes, [](const auto& node) { return node.children; });
  };
  expect_near(mean_of(set.instances, [](const auto& tree) { return tree.nodes.size(); }), 16.3, 0.05);
  expect_near(mean_of(set.instances, levels), 4.5, 0.06);
  expect_near(leaves / all, 0.651, 0.04);
}

TEST_P(Data, LatticesHaveHalfAsManyWordsAsCharacters) {
  const DataSet<Lattice> set = word_lattices(folder());
  EXPECT_EQ(set.real, GetParam());
  EXPECT_EQ(set.instances.size(), 3821U);
  EXPECT_EQ(set.words, 4467);
  EXPECT_EQ(set.characters, 1792);
  EXPECT_EQ(set.labels, 28);
  for (const Lattice& lattice : set.instances) {
    ASSERT_EQ(lattice.labels.size(), lattice.characters.size());
    for (const std::int32_t character : lattice.characters) expect_within(character, set.characters);
    for (const std::int32_t label : lattice.labels) expect_within(label, set.labels);
    std::int32_t end = 0;
    for (const Lattice::Word& word : lattice.words) {
      expect_within(word.word, set.words);
      expect_within(word.begin, word.end - 1);
      ASSERT_GE(word.end, end);
      ASSERT_LE(word.end, static_cast<std::int32_t>(lattice.characters.size()));
      end = word.end;
    }
  }
  expect_near(mean_of(set.instances, [](const auto& lattice) { return lattice.characters.size(); }), 32.5, 0.05);
  expect_near(mean_of(set.instances, [](const auto& lattice) { return lattice.words.size(); }), 13.7, 0.07);
}

TEST_P(Data, MoleculesAreConnectedByAFewMoreBondsThanAtoms) {
  if (GetParam() && !data::rdkit_available()) GTEST_SKIP() << "built without RDKit (librdkit-dev, libboost-dev)";
  const DataSet<Molecule> set = molecules(folder());
  EXPECT_EQ(set.real, GetParam());
  EXPECT_EQ(set.instances.size(), 4200U);
  EXPECT_EQ(set.words, 20);
  EXPECT_EQ(set.kinds, 4);
  std::array<double, 4> kinds{};
  std::array<double, 6> neighbours{};
  for (const Molecule& molecule : set.instances) {
    std::vector<std::size_t> bound(molecule.atoms.size(), 0);
    for (const std::int32_t atom : molecule.atoms) expect_within(atom, set.words);
    for (const Molecule::Bond& bond : molecule.bonds) {
      expect_within(bond.a, static_cast<std::int32_t>(molecule.atoms.size()));
      expect_within(bond.b, static_cast<std::int32_t>(molecule.atoms.size()));
      expect_within(bond.kind, set.kinds);
      ASSERT_NE(bond.a, bond.b);
      ++kinds.at(static_cast<std::size_t>(bond.kind));
      ++bound[static_cast<std::size_t>(bond.a)];
      ++bound[static_cast<std::size_t>(bond.b)];
    }
    for (const std::size_t count : bound) ++neighbours.at(count);
  }
  const double atoms = mean_of(set.instances, [](const auto& molecule) { return molecule.atoms.size(); });
  const double bonds = mean_of(set.instances, [](const auto& molecule) { return molecule.bonds.size(); });
  expect_near(atoms, 27.0, 0.03);
  expect_near(bonds, 29.5, 0.03);
  const auto count = static_cast<double>(set.instances.size());
  EXPECT_NEAR(kinds[0] / count / bonds, 0.46, 0.03);
  EXPECT_NEAR(kinds[3] / count / bonds, 0.48, 0.03);
  EXPECT_NEAR(neighbours[1] / count / atoms, 0.16, 0.03);
  EXPECT_NEAR(neighbours[2] / count / atoms, 0.52, 0.05);
  EXPECT_NEAR(neighbours[3] / count / atoms, 0.31, 0.05);
}

TEST_P(Data, PlansHaveKindsThatFixTheirChildren) {
  const DataSet<QueryPlan> set = query_plans(folder());
  EXPECT_EQ(set.real, GetParam());
  EXPECT_EQ(set.instances.size(), 226U);
  EXPECT_EQ(set.words, 15);
  EXPECT_EQ(set.features, 5);
  std::vector<int> children(static_cast<std::size_t>(set.words), -1);
  for (const QueryPlan& plan : set.instances)
    for (std::size_t v = 0; v < plan.nodes.size(); ++v) {
      const QueryPlan::Node& node = plan.nodes[v];
      expect_within(node.kind, set.words);
      ASSERT_LT(node.left, static_cast<std::int32_t>(v));
      ASSERT_LT(node.right, static_cast<std::int32_t>(v));
      ASSERT_EQ(node.features.size(), 5U);
      for (const float feature : node.features) ASSERT_TRUE(feature >= 0 && feature < 2) << feature;
      ASSERT_TRUE(node.target > -8 && node.target < 25) << node.target;
      const int count = (node.left >= 0 ? 1 : 0) + (node.right >= 0 ? 1 : 0);
      int& known = children[static_cast<std::size_t>(node.kind)];
      if (known < 0) known = count;
      ASSERT_EQ(known, count);
    }
  const auto levels = [](const QueryPlan& plan) {
    return levels_of(plan.nodes, [](const auto& node) { return std::array{node.left, node.right}; });
  };
  expect_near(mean_of(set.instances, [](const auto& plan) { return plan.nodes.size(); }), 19.7, 0.06);
  expect_near(mean_of(set.instances, levels), 11.2, 0.06);
}

// --- generated only
// ----------------------------------------------------------------------------------------------------

TEST(GeneratedData, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto words = [](std::uint64_t seed) {
    std::vector<std::int32_t> all;
    for (const auto& tree : sentiment_trees({}, {.count = 20, .seed = seed}).instances)
      for (const auto& node : tree.nodes) all.insert(all.end(), {node.left, node.right, node.word, node.label});
    for (const auto& sentence : tagged_sentences({}, {.count = 20, .seed = seed}).instances) {
      all.insert(all.end(), sentence.words.begin(), sentence.words.end());
      for (const auto& spelling : sentence.characters) all.insert(all.end(), spelling.begin(), spelling.end());
    }
    for (const auto& tree : dependency_trees({}, {.count = 20, .seed = seed}).instances)
      for (const auto& node : tree.nodes) all.insert(all.end(), node.children.begin(), node.children.end());
    for (const auto& lattice : word_lattices({}, {.count = 20, .seed = seed}).instances)
      for (const auto& word : lattice.words) all.insert(all.end(), {word.begin, word.end, word.word});
    for (const auto& molecule : molecules({}, {.count = 20, .seed = seed}).instances)
      for (const auto& bond : molecule.bonds) all.insert(all.end(), {bond.a, bond.b, bond.kind});
    for (const auto& plan : query_plans({}, {.count = 20, .seed = seed}).instances)
      for (const auto& node : plan.nodes) all.insert(all.end(), {node.kind, node.left, node.right});
    return all;
  };
  EXPECT_EQ(words(1), words(1));
  EXPECT_NE(words(1), words(2));
}

TEST(GeneratedData, FoldTreesHave128LeavesAndTheirShape) {
  const auto levels = [](TreeShape shape) {
    const DataSet<BinaryTree> set = fold_trees(shape, 20);
    EXPECT_EQ(set.instances.size(), 20U);
    EXPECT_EQ(set.words, 128);
    std::vector<std::int32_t> all;
    for (const BinaryTree& tree : set.instances) {
      EXPECT_EQ(tree.nodes.size(), 255U);
      all.push_back(levels_of(tree.nodes, [](const auto& node) { return std::array{node.left, node.right}; }));
    }
    return all;
  };
  const std::vector<std::int32_t> random = levels(TreeShape::kRandom);
  const std::vector<std::int32_t> same = levels(TreeShape::kSame);
  EXPECT_THAT(levels(TreeShape::kBalanced), ::testing::Each(8));
  EXPECT_THAT(levels(TreeShape::kChain), ::testing::Each(128));
  EXPECT_EQ(std::set(same.begin(), same.end()).size(), 1U);
  EXPECT_GT(std::set(random.begin(), random.end()).size(), 1U);
  EXPECT_THAT(random, ::testing::Each(::testing::AllOf(::testing::Gt(8), ::testing::Lt(128))));
}

}  // namespace
}  // namespace espalier::bench
