/// The data sets of the benchmark: read from a folder, or generated with the same statistics.
///
/// The folder holds `sst/train.txt`, `ud_english_ewt/en_ewt-ud-train.conllu.gz`,
/// `ner_zh/resume_train.char.bmes` with `ner_zh/jieba_dict_small.txt`, `molecules/Lipophilicity.csv`,
/// `query_plans/job_postgres.jsonl.gz`. An empty path generates the data. Throws ResourceError if a file cannot be
/// read, and DataError with name, line and column if its content is wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/data/instances.h"

namespace espalier::bench {

template <class Instance>
struct DataSet {
  bool real = false;
  std::int32_t words = 0;       // size of the vocabulary: words, atoms or kinds of operators
  std::int32_t labels = 0;      // number of labels or tags
  std::int32_t characters = 0;  // number of distinct characters
  std::int32_t kinds = 0;       // kinds of bonds
  std::int32_t features = 0;    // features per operator
  std::vector<Instance> instances{};
};

/// How to generate data. Equal seeds give equal data.
struct Generate {
  std::int32_t count = 0;  // number of instances; 0: as many as the real data has
  std::uint64_t seed = 1;
};

DataSet<BinaryTree> sentiment_trees(const std::filesystem::path& folder, const Generate& generate = {});
/// Words that occur at most five times have their characters.
DataSet<TaggedSentence> tagged_sentences(const std::filesystem::path& folder, const Generate& generate = {});
/// Labels are the relations to the head.
DataSet<DependencyTree> dependency_trees(const std::filesystem::path& folder, const Generate& generate = {});
/// Words have two or more characters.
DataSet<Lattice> word_lattices(const std::filesystem::path& folder, const Generate& generate = {});
/// Without RDKit the molecules are generated even if there is a folder.
DataSet<Molecule> molecules(const std::filesystem::path& folder, const Generate& generate = {});
/// The kind of an operator fixes its number of children.
DataSet<QueryPlan> query_plans(const std::filesystem::path& folder, const Generate& generate = {});

enum class TreeShape : std::int32_t {
  kRandom,  // a different shape for every tree
  kBalanced,
  kChain,
  kSame,  // one random shape for all trees
};
/// Trees of 128 leaves, as in Fold's benchmark (Looks et al., 2017). Always generated.
DataSet<BinaryTree> fold_trees(TreeShape shape, std::int32_t count, std::uint64_t seed = 1);

}  // namespace espalier::bench
