/// Trees of any number of children as binary ones.
#pragma once

#include "espalier/base/export.h"
#include "espalier/data/tree.h"
#include "espalier/models/instances.h"

namespace espalier::models {

/// A node with one child becomes that child, with the label of the node if it has one. A node with more than two is
/// binarised from the left: ((a b) c), and the nodes in between have no label. Words are the tokens of leaves. Refuses
/// (UsageError) a tree without nodes.
ESPALIER_EXPORT BinaryTree binary_tree(const data::Tree& tree);

}  // namespace espalier::models
