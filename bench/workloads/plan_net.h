/// B7: predicts the running time of query plans (after Marcus and Papaemmanouil, 2019): every kind of operator has a
/// small network of its own, over its features and the states of its children.
///
///   a = relu([features; s_left; s_right] W1 + b1)                     a, s: [hidden]
///   s = relu(a W2 + b2)
///   time = s w + b                                                    the same for all kinds
///
/// The loss is the squared error of the times of all operators; asked for is the time of the root.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/data/sets.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

std::unique_ptr<Workload> plan_net_workload(std::shared_ptr<const DataSet<QueryPlan>> data, std::int32_t hidden = 32);

}  // namespace espalier::bench
