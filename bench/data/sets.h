/// The data sets of the benchmark: read from a folder where there is one, generated with the same statistics elsewhere.
///
/// The folder is laid out as `sst/train.txt`, `ud_english_ewt/en_ewt-ud-train.conllu.gz`,
/// `ner_zh/resume_train.char.bmes` with `ner_zh/jieba_dict_small.txt`, `molecules/Lipophilicity.csv`,
/// `query_plans/job_postgres.jsonl.gz`. An empty path generates. A file that is missing or wrong is a DataError with
/// its name and line.
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
  std::vector<Instance> instances;
};

DataSet<BinaryTree> sentiment_trees(const std::filesystem::path& folder);
DataSet<TaggedSentence> tagged_sentences(const std::filesystem::path& folder);
DataSet<DependencyTree> dependency_trees(const std::filesystem::path& folder);
DataSet<Lattice> word_lattices(const std::filesystem::path& folder);
DataSet<Molecule> molecules(const std::filesystem::path& folder);
DataSet<QueryPlan> query_plans(const std::filesystem::path& folder);

enum class TreeShape : std::int32_t { kRandom, kBalanced, kChain };
/// Trees of 128 leaves, of Fold's benchmark (Looks et al., 2017): generated always.
DataSet<BinaryTree> fold_trees(TreeShape shape, std::int32_t count, std::uint64_t seed = 1);

}  // namespace espalier::bench
