/// What the benchmark's data sets are described by: measured in the same way in real and in generated ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "bench/data/instances.h"

namespace espalier::bench {

/// The mean of `measure` over the instances.
template <class Instance, class Measure>
double mean_of(const std::vector<Instance>& instances, Measure measure) {
  double sum = 0;
  for (const Instance& instance : instances) sum += static_cast<double>(measure(instance));
  return sum / static_cast<double>(instances.size());
}

/// Nodes on the longest way from the root, the last node, to a leaf. `children(node)` lists their numbers.
template <class Nodes, class Children>
std::int32_t levels_of(const Nodes& nodes, Children children) {
  std::vector<std::int32_t> levels;
  for (const auto& node : nodes) {
    std::int32_t most = 0;
    for (const std::int32_t child : children(node))
      if (child >= 0) most = std::max(most, levels.at(static_cast<std::size_t>(child)));
    levels.push_back(most + 1);
  }
  return levels.back();
}

/// The share of distinct words within minibatches of 64 from all over the data, on average: what computing equal leaves
/// once can gain.
template <class Instance, class Words>
double distinct_share(const std::vector<Instance>& instances, Words words) {
  constexpr std::size_t kBatch = 64;
  const std::size_t batches = instances.size() / kBatch;
  double sum = 0;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    std::unordered_set<std::int32_t> distinct;
    std::size_t all = 0;
    for (std::size_t i = 0; i < kBatch; ++i)
      for (const std::int32_t word : words(instances[batch + i * batches])) {
        distinct.insert(word);
        ++all;
      }
    sum += static_cast<double>(distinct.size()) / static_cast<double>(all);
  }
  return sum / static_cast<double>(batches);
}

}  // namespace espalier::bench
