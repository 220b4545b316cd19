#include "espalier/show/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/batch/own_strategy.h"
#include "espalier/report/numbers.h"

namespace espalier::show {
namespace {

/// Less than this share of the time is not worth a word.
constexpr double kLeastShare = 0.01;

class Advisor {
 public:
  Advisor(const Graph& graph, const Batches& batches, const Times& times)
      : graph_(graph), batches_(batches), times_(times) {}

  std::vector<Advice> run() {
    for (const Apart& apart : batches_.apart) advise(apart);
    if (times_.known) {
      advise_copying();
      advise_recording();
      advise_planning();
    }
    std::stable_sort(all_.begin(), all_.end(), [](const Advice& a, const Advice& b) {
      return a.seconds != b.seconds ? a.seconds > b.seconds : a.nodes > b.nodes;
    });
    return std::move(all_);
  }

 private:
  /// The time of the steps of some signatures.
  double seconds_of(const Apart& apart) const {
    double seconds = 0;
    for (std::size_t s = 0; s < batches_.steps.size(); ++s)
      if (std::find(apart.groups.begin(), apart.groups.end(), batches_.steps[s].group) != apart.groups.end())
        seconds += times_.forward[s] + times_.backward[s];
    return seconds;
  }

  void advise(const Apart& apart) {
    std::string what;
    double share = 1;  // of the time of these steps that could be saved
    const double fewer =
        apart.steps > 0 ? 1 - static_cast<double>(apart.least_steps) / static_cast<double>(apart.steps) : 0;
    switch (apart.kind) {
      case Apart::Why::kKinds:
        what = "Give these nodes the same shapes and the same weights, if they mean the same; then they run together.";
        share = fewer;
        break;
      case Apart::Why::kChain: return;  // the data are so
      case Apart::Why::kForced:
        what = graph_.options().strategy == Strategy::kFrontier
                   ? "Try Strategy::kAgenda, or record what these steps wait for in fewer kinds of nodes."
                   : "Try Strategy::kFrontier, which orders steps so that fewer are divided.";
        share = fewer;
        break;
      case Apart::Why::kRuns:
        what = "Ask for values after everything is recorded: each value() in between ends a batch.";
        share = 1 - 1 / static_cast<double>(std::max<std::size_t>(batches_.runs.size(), 1));
        break;
      case Apart::Why::kOwnWeights:
        what = "Multiply by parameters instead: products with computed matrices run one by one within their step.";
        break;
      case Apart::Why::kPlain: what = "Use float32: float64 is computed by the slow reference code."; break;
      case Apart::Why::kNoStrategy:
        what = "Use Strategy::kFrontier, the default: with Strategy::kNone nothing runs together.";
        share = saved_by_batching();
        break;
    }
    add({.what = std::move(what),
         .because = fmt::format("{}: {}", apart.places, apart.why),
         .seconds = times_.known ? share * seconds_of(apart) : -1,
         .nodes = apart.nodes});
  }

  double saved_by_batching() const {
    std::int64_t bound = 0;
    for (const BatchedRun& run : batches_.runs) bound += run.bound;
    const std::int64_t steps = std::ssize(batches_.steps);
    return steps == 0 ? 0 : 1 - static_cast<double>(bound) / static_cast<double>(steps);
  }

  void advise_copying() {
    const auto most = std::max_element(batches_.steps.begin(), batches_.steps.end(),
                                       [](const auto& a, const auto& b) { return a.copied < b.copied; });
    if (most == batches_.steps.end() || most->copied == 0) return;
    add({.what = "Let a value be the operand of one kind of product, or concatenate where it is made: then it is "
                 "written in place.",
         .because = fmt::format("{} were copied to bring operands side by side, most of them for {} {}",
                                report::short_bytes(static_cast<double>(batches_.statistics.bytes_copied)),
                                graph_.signature(most->first).info->name, graph_.source(most->first).to_string()),
         .seconds = times_.of(Doing::kCopying),
         .nodes = most->nodes});
  }

  void advise_recording() {
    const double recording = times_.of(Doing::kRecording);
    if (recording < 0.2 * times_.seconds) return;
    add({.what = "Record whole sentences or trees as single nodes (docs/rows.md), group ops into cells, or record the "
                 "next minibatch meanwhile (train/ahead.h).",
         .because = fmt::format("recording {} nodes took {}, your own code included",
                                report::whole_number(graph_.size()), report::short_time(recording)),
         .seconds = recording,
         .nodes = graph_.size()});
  }

  void advise_planning() {
    const double planning = times_.of(Doing::kScheduling) + times_.of(Doing::kPlanning) + times_.of(Doing::kCollecting);
    if (planning < 0.2 * times_.seconds) return;
    add({.what = "Record fewer and larger nodes (docs/rows.md); graphs of a shape that was seen before need no plan.",
         .because = fmt::format("deciding what runs together took {}; {} of {} plans were known",
                                report::short_time(planning), batches_.statistics.plan_hits, batches_.statistics.plans),
         .seconds = planning,
         .nodes = batches_.statistics.nodes});
  }

  void add(Advice advice) {
    if (times_.known && advice.seconds < kLeastShare * times_.seconds) return;
    all_.push_back(std::move(advice));
  }

  const Graph& graph_;
  const Batches& batches_;
  const Times& times_;
  std::vector<Advice> all_;
};

}  // namespace

std::vector<Advice> find_advice(const Graph& graph, const Batches& batches, const Times& times) {
  return Advisor(graph, batches, times).run();
}

}  // namespace espalier::show
