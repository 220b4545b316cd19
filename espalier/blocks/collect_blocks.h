/// Blocks that put something aside: metrics, losses, values to look at.
#pragma once

#include <cstdint>
#include <string>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"

namespace espalier::blocks {

/// metric(name) : collects a tensor, anywhere in the model.
/// Type: float[..] -> void;  (float[..], input) -> void
/// Meaning: any number per instance. A run returns them by name, in order, each with its label if it has one.
/// Example: auto scored = all_of({scores, get("label")}) >> metric("scores");
/// Errors: one name has two types in a model; the input has another form.
ESPALIER_EXPORT Block metric(std::string name, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());

/// loss(name, weight) : adds a number to the loss, anywhere in the model.
/// Type: float[] -> void
/// Meaning: the loss of an instance is the weighted sum of all that it collects.
/// Example: auto trained = all_of({scores, get("label")}) >> cross_entropy >> loss("label");
/// Errors: the tensor has more than one element; one name has two weights.
ESPALIER_EXPORT Block loss(std::string name, double weight = 1, const char* file = __builtin_FILE(),
                           std::int32_t line = __builtin_LINE());

/// tap(name) : passes a value through and records it.
/// Type: a -> a
/// Meaning: any number per instance. A run returns them by name, in order. To watch a named block without a tap, see
/// ProgramOptions::watch.
/// Example: auto watched = word >> layer >> tap("state");
/// Errors: one name has two types in a model.
ESPALIER_EXPORT Block tap(std::string name, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// named(name, block) : the same block with a name, for messages, paths and ProgramOptions::watch.
/// Type: the type of the block
/// Meaning: the same as block.named(name).
/// Example: auto leaf = named("leaf", get("word") >> word);
/// Errors: none.
inline Block named(std::string name, const BlockArg& block) { return block.block().named(std::move(name)); }

}  // namespace espalier::blocks
