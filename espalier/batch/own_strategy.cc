#include "espalier/batch/own_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/batch/analysis.h"

namespace espalier::batch {
namespace {

/// Refuses what is no schedule; the lists are those of `graph`.
void check_steps(const std::string& name, const Graph& graph, const std::vector<std::int32_t>& step) {
  const auto refuse = [&](const std::string& sentence) {
    throw UsageError(fmt::format("strategy \"{}\": {}", name, sentence));
  };
  if (step.size() != graph.signature.size())
    refuse(fmt::format("it gives steps for {} nodes, and the graph has {}", step.size(), graph.signature.size()));
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    const std::int32_t mine = step[static_cast<std::size_t>(v)];
    if (mine < 0) refuse(fmt::format("node {} is in step {}; steps count from 0", v, mine));
    for (const std::int32_t input : graph.inputs_of(v))
      if (const std::int32_t before = step[static_cast<std::size_t>(input)]; before >= mine)
        refuse(fmt::format("node {} is in step {}, and its input {} in step {}, which is not earlier", v, mine, input,
                           before));
  }
}

}  // namespace

OwnStrategy::OwnStrategy(std::string name, Function steps) : name_(std::move(name)), steps_(std::move(steps)) {
  static std::atomic<std::uint64_t> newest{0};
  uid_ = ++newest;
}

Schedule OwnStrategy::schedule(const Graph& graph) const {
  const std::vector<std::int32_t> step = steps_(graph);
  check_steps(name_, graph, step);
  Schedule result;
  result.order.resize(step.size());
  std::iota(result.order.begin(), result.order.end(), 0);
  const auto step_of = [&](std::int32_t v) { return step[static_cast<std::size_t>(v)]; };
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](std::int32_t a, std::int32_t b) { return step_of(a) < step_of(b); });
  const auto signature_of = [&](std::int32_t v) { return graph.signature[static_cast<std::size_t>(v)]; };
  for (std::size_t i = 1; i <= result.order.size(); ++i) {
    const std::int32_t before = result.order[i - 1];
    if (i == result.order.size() || step_of(before) != step_of(result.order[i]))
      result.step_begin.push_back(static_cast<std::int32_t>(i));
    else if (signature_of(before) != signature_of(result.order[i]))
      throw UsageError(fmt::format(
          "strategy \"{}\": nodes {} and {} are in step {}, and their signatures are {} and {}; a step has one", name_,
          before, result.order[i], step_of(before), signature_of(before), signature_of(result.order[i])));
  }
  Analysis analysis;
  analysis.look_at(graph);
  analysis.set_bound(result);
  return result;
}

}  // namespace espalier::batch
