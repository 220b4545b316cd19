/// Blocks that put something aside: metrics, losses, values to look at.
#pragma once

#include <cstdint>
#include <string>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"

namespace espalier::blocks {

/// metric(name) : collects a tensor, from anywhere in the model.
/// Type: float[..] -> void;  (float[..], input) -> void
/// Meaning: any number an instance; a run gives them in order, by name, each with its label where it has one.
/// Example: auto scored = all_of({scores, get("label")}) >> metric("scores");
/// Errors: the same name with two types in one model; an input of another form.
ESPALIER_EXPORT Block metric(std::string name, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());

/// loss(name, weight) : adds a number to the loss, from anywhere in the model.
/// Type: float[] -> void
/// Meaning: the loss of an instance is the weighted sum of all it collects.
/// Example: auto trained = all_of({scores, get("label")}) >> cross_entropy >> loss("label");
/// Errors: a tensor with more than one element; the same name with two weights.
ESPALIER_EXPORT Block loss(std::string name, double weight = 1, const char* file = __builtin_FILE(),
                           std::int32_t line = __builtin_LINE());

/// tap(name) : lets a value through, and shows it.
/// Type: a -> a
/// Meaning: any number an instance; a run gives them in order, by name. A named block can be looked at without it: see
/// ProgramOptions::watch.
/// Example: auto watched = word >> layer >> tap("state");
/// Errors: the same name with two types in one model.
ESPALIER_EXPORT Block tap(std::string name, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// named(name, block) : the same block, with a name for messages, paths and ProgramOptions::watch.
/// Type: that of the block
/// Meaning: as block.named(name).
/// Example: auto leaf = named("leaf", get("word") >> word);
/// Errors: none.
inline Block named(std::string name, const BlockArg& block) { return block.block().named(std::move(name)); }

}  // namespace espalier::blocks
