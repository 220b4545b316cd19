/// The training and inference loop of a Network, which all of Espalier's variants share.
#pragma once

#include <memory>

#include "bench/suite/network.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

/// A runner for any variant but the limit, for which it throws UsageError. Divides minibatches into lanes with about
/// the same number of nodes, one lane per thread, as the limit does.
std::unique_ptr<Runner> make_espalier_runner(std::unique_ptr<Network> network, const Workload& workload,
                                             Variant variant, Leaves leaves);

}  // namespace espalier::bench
