/// Dependency trees: words, each with the word it depends on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "espalier/base/export.h"
#include "espalier/data/tree.h"

namespace espalier::data {

/// What keeps heads from being one tree.
struct HeadError {
  std::size_t word;  // from 0
  std::string message;
};

/// Heads are the numbers of words from 1, in the order of the words; 0 marks the root. Nothing if they form one tree.
ESPALIER_EXPORT std::optional<HeadError> find_head_error(std::span<const std::int32_t> heads);

/// The tree that the heads form. The token of a node is its word, numbered from 0; its children are its dependents from
/// left to right. Refuses (UsageError) heads that are not one tree.
ESPALIER_EXPORT Tree dependency_tree(std::span<const std::int32_t> heads);

}  // namespace espalier::data
