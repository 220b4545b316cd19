/// BackwardGroup: calls of ops' backward functions that wait for others over the same rows in the same order, and then
/// run with them, a few rows at a time: what one leaves is still in the cache when the next reads it.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/aligned_rows.h"
#include "espalier/exec/backward_lists.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

/// Calls the backward function of an op for rows begin to end - 1 of a step.
void run_rows(const OpInfo& info, const void* attrs, const Saved& saved, std::span<const GradRows> grads,
              std::int64_t begin, std::int64_t end);

class BackwardGroup {
 public:
  BackwardGroup(const Graph& graph, Statistics& statistics) : graph_(graph), statistics_(statistics) {}

  bool empty() const { return used_ == 0; }
  /// Whether a call, whose gradients `lists` tell, has the same rows as all that wait.
  bool may_join(const Saved& saved, const BackwardLists& lists) const;
  /// Puts off a call that may join. What `lists` say of where its gradients are is taken from them.
  void add(const OpInfo& info, const void* attrs, const Saved& saved, BackwardLists& lists);
  /// Runs all that wait.
  void run();

 private:
  struct Call {
    const OpInfo* info = nullptr;
    const void* attrs = nullptr;
    Saved saved;
    std::vector<GradRows> grads;
    // Where rows lie that are not evenly spaced.
    std::vector<std::int64_t> dy_offsets;
    std::vector<std::vector<std::int64_t>> offsets;  // by operand
  };
  static std::vector<Call>& calls_of_thread() {
    thread_local std::vector<Call> calls;
    return calls;
  }

  const Graph& graph_;
  Statistics& statistics_;
  std::vector<Call>& calls_ = calls_of_thread();  // their memory serves the next
  std::size_t used_ = 0;
  AlignedRows touched_;  // gradients that are read or written
};

}  // namespace espalier::exec
