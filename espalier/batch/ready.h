/// The nodes that could run next, by signature: what strategies that choose step by step share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/batch/analysis.h"
#include "espalier/batch/graph.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

class Ready {
 public:
  explicit Ready(const Graph& graph)
      : graph_(graph),
        successors_(successors(graph)),
        waiting_inputs_(static_cast<std::size_t>(graph.size())),
        ready_(static_cast<std::size_t>(graph.signatures)) {
    result_.order.reserve(static_cast<std::size_t>(graph.size()));
    for (std::int32_t v = 0; v < graph.size(); ++v)
      waiting_inputs_[at(v)] = static_cast<std::int32_t>(graph.inputs_of(v).size());
  }

  /// Calls added(node) for every node that has no inputs.
  template <class F>
  void start(const F& added) {
    for (std::int32_t v = 0; v < graph_.size(); ++v)
      if (waiting_inputs_[at(v)] == 0) add(v, added);
  }

  std::span<const std::int32_t> of(std::int32_t signature) const { return ready_[at(signature)]; }

  /// All ready nodes of a signature are the next step. Calls added(node) for every node that is ready thereby.
  template <class F>
  void run(std::int32_t signature, const F& added) {
    step_.clear();
    step_.swap(ready_[at(signature)]);  // its own successors gather anew
    result_.order.insert(result_.order.end(), step_.begin(), step_.end());
    result_.step_begin.push_back(static_cast<std::int32_t>(result_.order.size()));
    for (std::int32_t v : step_)
      for (std::int32_t i = successors_.begin[at(v)]; i < successors_.begin[at(v) + 1]; ++i)
        if (--waiting_inputs_[at(successors_.list[at(i)])] == 0) add(successors_.list[at(i)], added);
  }

  bool finished() const { return static_cast<std::int32_t>(result_.order.size()) == graph_.size(); }
  Schedule take() { return std::move(result_); }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  template <class F>
  void add(std::int32_t node, const F& added) {
    ready_[at(graph_.signature[at(node)])].push_back(node);
    added(node);
  }

  const Graph& graph_;
  Successors successors_;
  std::vector<std::int32_t> waiting_inputs_;
  std::vector<std::vector<std::int32_t>> ready_;
  std::vector<std::int32_t> step_;
  Schedule result_;
};

}  // namespace espalier::batch
