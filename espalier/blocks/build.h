/// How blocks are made: nodes with terms in a pool, children taken in, rules run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/blocks/block.h"
#include "espalier/blocks/inference.h"
#include "espalier/blocks/node.h"

namespace espalier::blocks {

/// Puts a node into a pool of its own.
Block new_block(std::unique_ptr<BlockNode> node, SourceLine where);
template <class Node, class... Args>
Block new_block(SourceLine where, Args&&... args) {
  auto node = std::make_unique<Node>(std::forward<Args>(args)...);
  node->copy = [](const BlockNode& original) -> std::unique_ptr<BlockNode> {
    return std::make_unique<Node>(static_cast<const Node&>(original));
  };
  return new_block(std::move(node), where);
}
/// Makes a block a child of another; the pools become one.
void take_in(const Block& parent, const Block& child, const std::string& label = "");
/// The reverse, for a parent that is given up because its wiring was refused: its children have it no longer.
void give_up(const Block& parent);
/// Runs the rule of a block that was changed.
void rewire(const Block& block, SourceLine where);

struct NamedChild {
  Block block;
  std::string label = {};  // NOLINT(readability-redundant-member-init): may be left out
};

/// A whole block: node, children, types.
template <class Node, class... Args>
Block make_block(SourceLine where, const std::vector<NamedChild>& children, Args&&... args) {
  Block block = new_block<Node>(where, std::forward<Args>(args)...);
  for (const NamedChild& child : children) take_in(block, child.block, child.label);
  try {
    rewire(block, where);
  } catch (...) {
    give_up(block);
    throw;
  }
  return block;
}

}  // namespace espalier::blocks
