/// KindRows: the rows of one kind of a recursion as its program wants them, and the memory of a thread for all kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/cells/frame.h"
#include "espalier/cells/program_run.h"
#include "espalier/ops/step.h"

namespace espalier::cells {

/// All rows of one kind, in their order, as its program wants them.
struct KindRows {
  std::int64_t count = 0;
  float* operands = nullptr;  // what is multiplied together, side by side
  float* x = nullptr;         // x in the order of the rows; null: it is read where it is
  Kept saved;                 // what the program leaves for its backward
  Rows hoisted;               // what its product of x gives, and then the gradient of that
  Rows once;                  // the same for the rows of x that differ; none: each is multiplied for itself
  std::int64_t once_at = 0;   // where that is, in memory of the thread
  Kept deferred;              // what its backward leaves for the gradients of weights
  StepIn in;
  std::vector<ConstRows> inputs;  // of the program, then its parameters
  std::vector<const Parameter*> parameters;
  std::vector<Rows> states;
  std::vector<Rows> state_gradients;
  std::vector<GradRows> grads;  // of the inputs
  Rows x_gradient;              // where that of x lies apart
  ProgramRun run;

  /// Lists of offsets that are of these rows only, and what they lead to where a child is missing.
  struct Own {
    std::vector<std::int64_t> offsets;
    std::vector<float> unread;
  };
  std::vector<Own> own;
  std::size_t own_used = 0;
  std::vector<float> apart;  // memory of x_gradient

  bool multiplies_once() const { return once.count > 0; }
  /// Of x, as its product reads it.
  std::int64_t rows_of_x() const { return multiplies_once() ? once.count : count; }
  const Rows& made_of_x() const { return multiplies_once() ? once : hoisted; }
  float* room_for_x_gradient(std::int64_t floats) {
    if (apart.size() < at(floats)) apart.resize(at(floats));
    return apart.data();
  }
  Own& next_own() {
    if (own_used == own.size()) own.emplace_back();
    return own[own_used++];
  }
};

/// Memory of a thread for the step it runs.
struct StepMemory {
  std::vector<KindRows> kinds;
  std::vector<float> kept;            // operands, where nothing is left for backward
  std::vector<float> zeros;           // the state of a child that is missing; never written
  std::vector<float> once;            // products of the rows of x that differ, or their gradients
  std::vector<std::int64_t> of_part;  // floats that are taken

  static StepMemory& of_thread() {
    thread_local StepMemory memory;
    return memory;
  }
};

}  // namespace espalier::cells
