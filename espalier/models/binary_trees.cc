#include "espalier/models/binary_trees.h"

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/base/error.h"

namespace espalier::models {

BinaryTree binary_tree(const data::Tree& tree) {
  if (tree.size() == 0) throw UsageError("a tree has no nodes");
  BinaryTree binary;
  std::vector<std::int32_t> number;  // of each node of the tree
  for (std::int32_t node = 0; node < tree.size(); ++node) {
    const std::span<const std::int32_t> children = tree.children(node);
    const std::int32_t label = tree.label(node) == data::kNone ? kNoLabel : tree.label(node);
    if (children.empty()) {
      binary.nodes.push_back({.word = tree.token(node), .label = label});
    } else if (children.size() == 1) {
      const std::int32_t child = number[static_cast<std::size_t>(children[0])];
      if (label != kNoLabel) binary.nodes[static_cast<std::size_t>(child)].label = label;
      number.push_back(child);
      continue;
    } else {
      std::int32_t left = number[static_cast<std::size_t>(children[0])];
      for (std::size_t k = 1; k < children.size(); ++k) {
        binary.nodes.push_back({.left = left,
                                .right = number[static_cast<std::size_t>(children[k])],
                                .label = k + 1 == children.size() ? label : kNoLabel});
        left = static_cast<std::int32_t>(binary.nodes.size()) - 1;
      }
    }
    number.push_back(static_cast<std::int32_t>(binary.nodes.size()) - 1);
  }
  return binary;
}

}  // namespace espalier::models
