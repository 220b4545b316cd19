#include "espalier/show/times.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "espalier/exec/traced.h"

namespace espalier::show {
namespace {

double seconds_of(const TimeSpan& span) { return static_cast<double>(span.end - span.begin) * 1e-9; }

void add_steps(const Batches& batches, Times& times) {
  std::map<std::pair<std::int64_t, std::int32_t>, std::size_t> number;
  for (std::size_t s = 0; s < batches.steps.size(); ++s)
    number[{batches.runs[static_cast<std::size_t>(batches.steps[s].run)].number, batches.steps[s].step}] = s;
  times.forward.assign(batches.steps.size(), 0);
  times.backward.assign(batches.steps.size(), 0);
  for (const TimeSpan& span : times.spans) {
    const bool is_forward = span.doing == Doing::kKernel || span.doing == Doing::kCopying;
    if (!is_forward && span.doing != Doing::kBackwardKernel) continue;
    const auto at = number.find({span.run, span.step});
    if (at != number.end()) (is_forward ? times.forward : times.backward)[at->second] += seconds_of(span);
  }
}

}  // namespace

Times read_times(const Graph& graph, const Batches& batches, const Trace* trace) {
  Times times;
  if (trace == nullptr || graph.size() == 0) return times;
  const std::uint64_t mine = exec::trace_number(graph);
  for (const TimeSpan& span : trace->spans())
    if (span.graph == mine) times.spans.push_back(span);
  if (times.spans.empty()) return times;
  std::stable_sort(times.spans.begin(), times.spans.end(),
                   [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
  times.known = true;
  times.names = trace->names();
  std::array<double, kDoings> all{};
  for (const TimeSpan& span : times.spans) all[static_cast<std::size_t>(span.doing)] += seconds_of(span);
  const auto of = [&](Doing doing) { return all[static_cast<std::size_t>(doing)]; };
  // Spans within others are taken out of these.
  const double before = of(Doing::kCollecting) + of(Doing::kScheduling) + of(Doing::kPlanning);
  const double in_forward = of(Doing::kCopying) + of(Doing::kKernel);
  const double in_backward = of(Doing::kBackwardKernel) + of(Doing::kWeights);
  const double rest = of(Doing::kForward) - in_forward + of(Doing::kBackward) - in_backward;
  const double waiting = of(Doing::kCall) - before - of(Doing::kForward) - of(Doing::kBackward);
  times.seconds = of(Doing::kRecording) + of(Doing::kCall);
  times.parts = {
      {"recording", "your code, while it wrote nodes down", Doing::kRecording, of(Doing::kRecording)},
      {"collecting", "finding what had to run", Doing::kCollecting, of(Doing::kCollecting)},
      {"scheduling", "choosing which nodes run together", Doing::kScheduling, of(Doing::kScheduling)},
      {"planning", "placing rows in memory", Doing::kPlanning, of(Doing::kPlanning)},
      {"copying", "bringing operands side by side", Doing::kCopying, of(Doing::kCopying)},
      {"kernels", "computing, forward", Doing::kKernel, of(Doing::kKernel)},
      {"backward kernels", "computing gradients", Doing::kBackwardKernel, of(Doing::kBackwardKernel)},
      {"weight gradients", "one product per weight", Doing::kWeights, of(Doing::kWeights)},
      {"between steps", "finding operands, starting and ending runs", Doing::kForward, std::max(rest, 0.0)},
      {"waiting for values", "the rest of value(), backward() and finish()", Doing::kCall, std::max(waiting, 0.0)}};
  add_steps(batches, times);
  return times;
}

}  // namespace espalier::show
