#include "espalier/models/dependency_trees.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/dependency.h"

namespace espalier::models {

DependencyTree dependency_tree(std::span<const std::int32_t> heads) {
  if (const std::optional<data::HeadError> error = data::find_head_error(heads))
    throw UsageError("dependencies: " + error->message);
  std::vector<std::vector<std::int32_t>> dependents(heads.size() + 1);  // by head; those of 0: the root
  for (std::size_t w = 0; w < heads.size(); ++w)
    dependents[static_cast<std::size_t>(heads[w])].push_back(static_cast<std::int32_t>(w) + 1);
  // Level by level from the root down; the nodes are numbered in the reverse of this order.
  std::vector<std::int32_t> order = dependents[0];
  order.reserve(heads.size());
  for (std::size_t at = 0; at < order.size(); ++at)
    for (const std::int32_t dependent : dependents[static_cast<std::size_t>(order[at])]) order.push_back(dependent);

  std::vector<std::int32_t> node_of(heads.size() + 1);
  for (std::size_t at = 0; at < order.size(); ++at)
    node_of[static_cast<std::size_t>(order[at])] = static_cast<std::int32_t>(order.size() - 1 - at);
  DependencyTree tree;
  tree.nodes.resize(heads.size());
  for (std::size_t w = 0; w < heads.size(); ++w) {
    DependencyTree::Node& node = tree.nodes[static_cast<std::size_t>(node_of[w + 1])];
    node.word = static_cast<std::int32_t>(w);
    node.children.reserve(dependents[w + 1].size());
    for (const std::int32_t dependent : dependents[w + 1])
      node.children.push_back(node_of[static_cast<std::size_t>(dependent)]);
  }
  return tree;
}

}  // namespace espalier::models
