/// What a strategy sees of a problem.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/batch/graph.h"
#include "espalier/plan/problem.h"

namespace espalier::exec {

/// The nodes and edges that a strategy sees: operands from outside the run are left out.
class ScheduleInput {
 public:
  explicit ScheduleInput(const plan::Problem& problem) : problem_(problem) {
    const std::size_t nodes = problem.signature.size();
    lists_.begin.resize(nodes + 1);
    lists_.inputs.resize(problem.inputs.size());
    std::int32_t* next = lists_.inputs.data();
    lists_.begin[0] = 0;
    for (std::size_t v = 0; v < nodes; ++v) {
      for (std::int32_t p = problem.input_begin[v]; p < problem.input_begin[v + 1]; ++p)
        if (problem.inputs[at(p)] >= 0) *next++ = problem.inputs[at(p)];
      lists_.begin[v + 1] = static_cast<std::int32_t>(next - lists_.inputs.data());
    }
    lists_.inputs.resize(at(lists_.begin[nodes]));
  }
  ~ScheduleInput() {
    if (lists_.inputs.capacity() > kMostKept) lists_ = {};
  }
  ScheduleInput(const ScheduleInput&) = delete;
  ScheduleInput& operator=(const ScheduleInput&) = delete;

  batch::Graph graph() const {
    return {problem_.signature, static_cast<std::int32_t>(problem_.facts.size()), lists_.begin, lists_.inputs};
  }

 private:
  static constexpr std::size_t kMostKept = 200'000;  // inputs: more are forgotten
  /// Memory that a thread keeps from one schedule to the next.
  struct Lists {
    std::vector<std::int32_t> begin;
    std::vector<std::int32_t> inputs;

    static Lists& of_thread() {
      thread_local Lists lists;
      return lists;
    }
  };

  const plan::Problem& problem_;
  Lists& lists_ = Lists::of_thread();
};

}  // namespace espalier::exec
