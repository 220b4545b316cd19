/// A dry run: what value(), backward() or finish() would run, before anything is computed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"

namespace espalier {

/// What a run is for; see Expr::value(), Expr::backward(), Graph::finish().
enum class RunKind : std::int32_t { kValue, kBackward, kFinish };

/// Says what a run of these nodes will be, as Graph::explain() says it afterwards, and how many bytes its values and
/// gradients take. Records are collected, scheduled and planned; nothing is computed. The plan is made as for the run,
/// whatever the memory budget. Refuses (UsageError) no nodes, nodes of several graphs, a changed parameter, and a graph
/// in which anything was computed already.
ESPALIER_EXPORT std::string explain_plan(std::span<const Expr> outputs, RunKind kind = RunKind::kValue);
inline std::string explain_plan(std::initializer_list<Expr> outputs, RunKind kind = RunKind::kValue) {
  return explain_plan(std::span<const Expr>(outputs.begin(), outputs.size()), kind);
}

}  // namespace espalier
