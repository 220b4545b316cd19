/// Finds the name that a misspelt word most likely stands for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier {

/// How many letters must be changed, added, removed or swapped with their neighbour to turn `a` into `b`.
ESPALIER_EXPORT std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that `word` most likely stands for: one that begins with it, or the one at the smallest edit distance if
/// that is at most a third of its letters. Empty if no name is that near.
ESPALIER_EXPORT std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

/// `; did you mean "train"?`, to end a message about an unknown word. Empty if no name is near.
ESPALIER_EXPORT std::string suggestion(std::string_view word, std::span<const std::string_view> names);
/// The same, but lists all names if none is near: `; there are "adam" and "sgd"`.
ESPALIER_EXPORT std::string suggestion_or_names(std::string_view word, std::span<const std::string_view> names);

}  // namespace espalier
