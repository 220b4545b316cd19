/// The networks of the workloads that have no limit, and the workloads made of them. How each computes is said where it
/// is written.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/data/sets.h"
#include "bench/suite/network.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

template <class Instance>
using SharedData = std::shared_ptr<const DataSet<Instance>>;

struct EmbeddingAndHidden {
  std::int32_t embedding = 0;
  std::int32_t hidden = 0;
};

/// B3. Characters are read by half of `embedding` in each direction.
std::unique_ptr<Network> character_tagger_network(SharedData<TaggedSentence> data, const EmbeddingAndHidden& sizes);
std::unique_ptr<Workload> character_tagger_workload(SharedData<TaggedSentence> data, const EmbeddingAndHidden& sizes);

/// B4.
std::unique_ptr<Network> child_sum_network(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes);
/// The same with one node per tree.
std::unique_ptr<Network> child_sum_recursion(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes);
std::unique_ptr<Workload> child_sum_workload(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes);

/// B5.
std::unique_ptr<Network> lattice_network(SharedData<Lattice> data, const EmbeddingAndHidden& sizes);
/// The same with one node per lattice.
std::unique_ptr<Network> lattice_recursion(SharedData<Lattice> data, const EmbeddingAndHidden& sizes);
std::unique_ptr<Workload> lattice_workload(SharedData<Lattice> data, const EmbeddingAndHidden& sizes);

/// B6.
std::unique_ptr<Network> message_passing_network(SharedData<Molecule> data, std::int32_t hidden);
std::unique_ptr<Workload> message_passing_workload(SharedData<Molecule> data, std::int32_t hidden);

/// B8.
std::unique_ptr<Network> matrix_vector_network(SharedData<BinaryTree> data, std::int32_t hidden);
std::unique_ptr<Workload> matrix_vector_workload(SharedData<BinaryTree> data, std::int32_t hidden);

}  // namespace espalier::bench
