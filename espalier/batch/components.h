/// Which signatures depend on each other, directly or through others: the strongly connected components of the graph
/// that has an edge from s to t where a node of s is an input of a node of t.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/batch/graph.h"

namespace espalier::batch {

struct Components {
  std::vector<std::int32_t> component;  // of each signature
  std::vector<std::int32_t> place;      // of each signature within its component, from 0
  std::vector<std::int32_t> size;       // signatures in each component

  std::int32_t size_of(std::int32_t signature) const {
    return size[static_cast<std::size_t>(component[static_cast<std::size_t>(signature)])];
  }
};

Components signature_components(const Graph& graph);

}  // namespace espalier::batch
