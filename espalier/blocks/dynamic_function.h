/// dynamic_function(): a callable whose types only a call tells, for bindings to languages that do not write types.
#pragma once

#include <functional>
#include <string>

#include "espalier/base/export.h"
#include "espalier/base/source_line.h"
#include "espalier/blocks/block.h"
#include "espalier/blocks/output.h"
#include "espalier/blocks/slot.h"

namespace espalier::blocks {

struct DynamicCall {
  Graph& graph;
  Keep& keep;      // for objects that the result refers to
  bool rehearsal;  // only the type of the result is wanted: inputs in the argument are null, tensors are zeros
};

/// Gives the result for an argument. Its type must be the same each time, but a sequence without elements has any type.
/// A rehearsal that is impossible without data throws CannotRehearse.
using DynamicFunction = std::function<Output(const DynamicCall& call, const Output& argument)>;

/// dynamic_function(label, f) : calls a function of whatever its input is.
/// Type: a -> b
/// Meaning: the type of the result is found by calling f once on a graph that computes nothing. If f needs data for
/// that, gives() says what it gives.
/// Example:
///   auto same = dynamic_function("same", [](const DynamicCall&, const Output& x) { return x; }, {"model.cc", 12});
/// Errors: a result of another type than that of the first call (DataError).
ESPALIER_EXPORT Block dynamic_function(std::string label, DynamicFunction f, SourceLine where);

}  // namespace espalier::blocks
