/// predict(): the outputs of a model for any number of instances, batched, divided among the threads, and in order.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/tensor/tensor.h"

namespace espalier::train {

/// For each i from 0 to count - 1: records output(graph, i) outside of training, and calls done(i, value) in that
/// order, as soon as the instances before it are done. At most a few groups of instances are in memory at a time. The
/// numbers do not depend on the number of threads.
///
/// Thread safety: calls `output` from several threads at once, and `done` from the caller's.
ESPALIER_EXPORT void predict(std::int64_t count, const std::function<Expr(Graph& graph, std::int64_t i)>& output,
                             const std::function<void(std::int64_t i, const Tensor& value)>& done);

/// The same for a model that records several instances together: record(graph, begin, end) gives an output for each.
ESPALIER_EXPORT void predict_groups(
    std::int64_t count,
    const std::function<std::vector<Expr>(Graph& graph, std::int64_t begin, std::int64_t end)>& record,
    const std::function<void(std::int64_t i, const Tensor& value)>& done);

}  // namespace espalier::train
