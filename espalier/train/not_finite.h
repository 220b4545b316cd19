/// Where a number that is not finite comes from. Internal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/train/task.h"

namespace espalier::train {

/// The first parameter whose gradient has a number that is not finite; null if there is none. Costs a pass over the
/// gradients.
const Parameter* find_not_finite(const Gradients& gradients);

/// A minibatch to be computed again.
struct Suspect {
  std::span<const std::size_t> instances;
  std::uint64_t step = 0;
};

/// A clause that says in which parameter, or in which op of which instance, a number of the loss or of a gradient first
/// is not finite. Computes the minibatches again, op by op, with the weights as they are.
std::string explain_not_finite(const Task& task, const Model& model, const GraphOptions& options,
                               std::span<const Suspect> suspects);

}  // namespace espalier::train
