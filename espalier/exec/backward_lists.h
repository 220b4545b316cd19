/// The lists of a backward pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/base/ids.h"
#include "espalier/exec/deferred.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

/// What the gradients of an operand's rows need before they are written.
struct Opened {
  std::vector<NodeId> clean;  // nothing is there yet
  bool all_clean = true;
  bool all_wanted = true;  // every row gets a gradient
  std::vector<std::int64_t> offsets;
};

/// The lists of a pass, which a thread keeps from one to the next: most passes over small graphs would be spent on
/// getting memory for them.
struct BackwardLists {
  std::vector<DeferredGroup> groups;
  std::vector<std::int32_t> group_of;  // by signature; -1: none
  std::vector<DeferredGroup::Target> targets_of_group;
  struct Table {
    NodeId node;
    float* values;
  };
  std::vector<Table> tables;  // to whose rows gradients are added at once

  // Of the step at hand.
  std::vector<NodeId> some_nodes;     // where not all rows of a step take part
  std::vector<std::int32_t> numbers;  // likewise, which
  std::vector<std::int64_t> dy_offsets;
  std::vector<Rows> result_gradients;
  std::vector<Rows> again;  // results that were computed once more
  std::vector<std::vector<std::int64_t>> result_offsets;
  std::vector<std::int64_t> deferred_offsets;
  std::vector<GradRows> grads;
  std::vector<Opened> opened;
  std::vector<float*> targets;            // of the nodes at hand, the first row of each
  std::vector<std::int64_t> target_rows;  // beside them, how many; empty where each has one
  std::vector<std::int32_t> rows;         // of a table
  std::vector<const std::byte*> row_values;
  std::vector<float> unread;

  static BackwardLists& of_thread() {
    thread_local BackwardLists lists;
    return lists;
  }
};

}  // namespace espalier::exec
