/// copy_model(): a block and all blocks inside it, copied for one compilation.
///
/// Compiling binds types that wiring left open. It does so on a copy, so that a Block stays as it was: it can be
/// compiled for other data later, and by several threads at once.
#pragma once

#include <memory>
#include <vector>

#include "espalier/blocks/node.h"

namespace espalier::blocks {

struct ModelCopy {
  std::shared_ptr<Pool> pool;
  /// Each block once, a block before the blocks inside it. The first is the copy of the outermost block.
  std::vector<BlockNode*> nodes;

  BlockNode& root() const { return *nodes[0]; }
};

/// The copies refer to parents outside `root`, for paths in messages: the original must live as long.
ModelCopy copy_model(const BlockNode& root);

}  // namespace espalier::blocks
