/// ReplayedKinds: what a graph knows of the instances that Recordings keep (graph/recordings.h), so that their nodes
/// are appended without asking again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "espalier/base/ids.h"

namespace espalier {

struct ReplayedKinds {
  std::uint64_t recordings = 0;  // whose they are, a uid
  /// Numbers of leaves, and all that signatures point to: it must outlive the graph's records.
  std::shared_ptr<const void> kept;
  std::uint32_t signature_epoch = 0;
  std::vector<SignatureId> signatures;  // by kind of node; -1: not met yet
  std::uint32_t epoch = 0;
  std::vector<NodeId> shared;  // by number; -1: not recorded here yet
};

}  // namespace espalier
