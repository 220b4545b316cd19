/// The training and inference loop of a Network, which all of Espalier's variants share.
#pragma once

#include <memory>

#include "bench/suite/network.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

/// A runner for one of the variants kCells, kPlain, kUnbatched; refuses the others. Minibatches are divided into
/// lanes of about as many nodes, one for each thread, as the limit divides them.
std::unique_ptr<Runner> make_espalier_runner(std::unique_ptr<Network> network, const Workload& workload,
                                             Variant variant, Leaves leaves);

}  // namespace espalier::bench
