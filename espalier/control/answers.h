/// What is read from a value that was computed, in place. Internal.
#pragma once

#include <cstdint>

#include "espalier/control/runner.h"

namespace espalier::control {

/// Refuses (UsageError) an Expr that an instance cannot ask for: of another graph, or without the one row that an index
/// is chosen from.
void require_answerable(const Ask& ask);

/// The element that a computed Ask chooses.
std::int64_t choose(const Ask& ask);

/// A leaf of a graph with the value of an Expr of another, which was computed.
Expr copy_to(Graph& graph, const Expr& expr);

}  // namespace espalier::control
