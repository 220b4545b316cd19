/// Dependency trees from the heads of words.
#pragma once

#include <cstdint>
#include <span>

#include "espalier/base/export.h"
#include "espalier/models/instances.h"

namespace espalier::models {

/// The tree that heads form: for each word the number of the word it depends on, from 1, and 0 for the root. The word
/// of a node is its place in the sentence, from 0. The children of a node are side by side. Refuses (UsageError) heads
/// that are not one tree.
ESPALIER_EXPORT DependencyTree dependency_tree(std::span<const std::int32_t> heads);

}  // namespace espalier::models
