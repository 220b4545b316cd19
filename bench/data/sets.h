/// The data sets of the benchmark: read from a folder where there is one, generated with the same statistics elsewhere.
///
/// The folder is laid out as `sst/train.txt`, `ud_english_ewt/en_ewt-ud-train.conllu.gz`,
/// `ner_zh/resume_train.char.bmes` with `ner_zh/jieba_dict_small.txt`, `molecules/Lipophilicity.csv`,
/// `query_plans/job_postgres.jsonl.gz`. An empty path generates. A file that cannot be read is a ResourceError, one
/// that is wrong a DataError with its name, line and column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/data/instances.h"

namespace espalier::bench {

template <class Instance>
struct DataSet {
  bool real = false;
  std::int32_t words = 0;       // numbers of words, of atoms, of kinds of operators: 0 to words - 1
  std::int32_t labels = 0;      // of labels, tags
  std::int32_t characters = 0;  // of characters
  std::int32_t kinds = 0;       // of bonds
  std::int32_t features = 0;    // numbers that describe an operator
  std::vector<Instance> instances{};
};

/// What is generated where there is no folder. Same seed, same data.
struct Generate {
  std::int32_t count = 0;  // of instances; 0: as many as the real data has
  std::uint64_t seed = 1;
};

DataSet<BinaryTree> sentiment_trees(const std::filesystem::path& folder, const Generate& generate = {});
/// Of words that occur at most five times the characters are given.
DataSet<TaggedSentence> tagged_sentences(const std::filesystem::path& folder, const Generate& generate = {});
/// Labels are the relations to the head.
DataSet<DependencyTree> dependency_trees(const std::filesystem::path& folder, const Generate& generate = {});
/// Words of two characters and more.
DataSet<Lattice> word_lattices(const std::filesystem::path& folder, const Generate& generate = {});
DataSet<Molecule> molecules(const std::filesystem::path& folder, const Generate& generate = {});
/// The kind of an operator fixes its number of children.
DataSet<QueryPlan> query_plans(const std::filesystem::path& folder, const Generate& generate = {});

enum class TreeShape : std::int32_t {
  kRandom,  // a shape of its own for every tree
  kBalanced,
  kChain,
  kSame,  // a random one for all trees
};
/// Trees of 128 leaves, of Fold's benchmark (Looks et al., 2017): generated always.
DataSet<BinaryTree> fold_trees(TreeShape shape, std::int32_t count, std::uint64_t seed = 1);

}  // namespace espalier::bench
