/// explain(): what ran together and what did not, and why, as text.
#include "espalier/exec/explain/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "espalier/batch/own_strategy.h"

namespace espalier::exec {
namespace {

/// A run of more steps is folded where steps repeat.
constexpr std::size_t kUnfolded = 40;
constexpr std::size_t kLongestPeriod = 32;
constexpr std::size_t kFewestTimes = 3;
/// Of steps and headings, over all runs.
constexpr std::size_t kMostLines = 160;
constexpr std::size_t kMostReasons = 20;

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  constexpr std::array kUnits{"KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1000; value >= 999.95 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string range(std::int64_t low, std::int64_t high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{}-{}", low, high);
}

/// Steps begin to begin + period - 1, and the same ops again, so many times in all.
struct Fold {
  std::size_t begin = 0;
  std::size_t period = 1;
  std::size_t times = 1;
  std::size_t lines() const { return period == 1 ? 1 : period + 1; }
  std::size_t end() const { return begin + period * times; }
};

/// The fold that covers most steps. One of `times` beyond 1 is passed over at once, so that the search is linear.
Fold fold_at(std::span<const StepFacts> steps, std::size_t begin) {
  Fold best{.begin = begin};
  for (std::size_t period = 1; period <= kLongestPeriod && begin + period < steps.size(); ++period) {
    std::size_t same = 0;
    while (begin + period + same < steps.size() && steps[begin + same].group == steps[begin + period + same].group)
      ++same;
    const std::size_t times = 1 + same / period;
    if (times >= kFewestTimes && times * period > best.times * best.period) best = {begin, period, times};
  }
  return best;
}

/// The cells of one line of a table; a line of its own has only `whole`.
struct Line {
  std::array<std::string, 7> cells;
  std::string whole;
};
constexpr std::array<bool, 7> kRightAligned{true, false, true, true, false, true, false};

class StepTable {
 public:
  StepTable(const Graph& graph, std::span<const StepFacts> steps) : graph_(graph), steps_(steps) {
    lines_.push_back({.cells = {"step", "op", "nodes", "instances", "shared", "copied", "where"}, .whole = {}});
  }

  /// At most `most` lines, or a few more that belong together.
  void fill(std::size_t most) {
    std::size_t next = 0;
    while (next < steps_.size() && lines_.size() < most) {
      const Fold fold = steps_.size() > kUnfolded ? fold_at(steps_, next) : Fold{.begin = next};
      add(fold);
      next = fold.end();
    }
    if (next == steps_.size()) return;
    std::int64_t nodes = 0;
    for (const StepFacts& step : steps_.subspan(next)) nodes += step.nodes;
    lines_.push_back({.cells = {},
                      .whole = fmt::format("and {} more, of {}", counted(std::ssize(steps_.subspan(next)), "step"),
                                           counted(nodes, "node"))});
  }

  std::size_t size() const { return lines_.size(); }

  void print(std::string& text) const {
    std::array<std::size_t, 7> width{};
    for (const Line& line : lines_)
      for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], line.cells[i].size());
    for (const Line& line : lines_) {
      if (!line.whole.empty()) {
        text += "  " + line.whole + "\n";
        continue;
      }
      for (std::size_t i = 0; i + 1 < width.size(); ++i) {
        const std::string space(width[i] - line.cells[i].size(), ' ');
        text += "  " + (kRightAligned[i] ? space + line.cells[i] : line.cells[i] + space);
      }
      text += "  " + line.cells.back() + "\n";
    }
  }

 private:
  void add(const Fold& fold) {
    const std::string numbers = range(static_cast<std::int64_t>(fold.begin) + 1, static_cast<std::int64_t>(fold.end()));
    if (fold.period > 1)
      lines_.push_back(
          {.cells = {}, .whole = fmt::format("steps {}: {} times these {}", numbers, fold.times, fold.period)});
    for (std::size_t i = 0; i < fold.period; ++i) add_line(fold, i, fold.period > 1 ? "" : numbers);
  }

  void add_line(const Fold& fold, std::size_t i, const std::string& numbers) {
    const StepFacts& first = steps_[fold.begin + i];
    StepFacts low = first;
    StepFacts high = first;
    std::int64_t copied = 0;
    for (std::size_t s = fold.begin + i; s < fold.end(); s += fold.period) {
      const StepFacts& step = steps_[s];
      low.nodes = std::min(low.nodes, step.nodes);
      high.nodes = std::max(high.nodes, step.nodes);
      low.rows = std::min(low.rows, step.rows);
      high.rows = std::max(high.rows, step.rows);
      low.instances = std::min(low.instances, step.instances);
      high.instances = std::max(high.instances, step.instances);
      high.any_joint |= step.any_joint;
      high.any_shared |= step.any_shared;
      high.other_lines = std::max(high.other_lines, step.other_lines);
      copied += step.copied;
    }
    std::string where = graph_.source(first.first).to_string();
    if (high.other_lines > 0) where += fmt::format(" and {}", counted(high.other_lines, "other line"));
    lines_.push_back(
        {.cells = {numbers, std::string(graph_.signature(first.first).info->name), nodes_text(low, high),
                   instances_text(low, high), shared_text(first.first), copied == 0 ? "-" : bytes_text(copied), where},
         .whole = {}});
  }

  static std::string nodes_text(const StepFacts& low, const StepFacts& high) {
    const std::string nodes = range(low.nodes, high.nodes);
    return high.rows == high.nodes ? nodes : fmt::format("{} ({} rows)", nodes, range(low.rows, high.rows));
  }
  static std::string instances_text(const StepFacts& low, const StepFacts& high) {
    std::string text = high.instances > 0 ? range(low.instances, high.instances) : "";
    if (high.any_joint) text += text.empty() ? "joint" : ", joint";
    if (high.any_shared) text += text.empty() ? "shared" : ", shared";
    return text.empty() ? "-" : text;
  }

  std::string shared_text(NodeId node) const {
    std::string text;
    const std::span<const NodeId> inputs = graph_.inputs(node);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (is_one_for_all(graph_, node, i)) text += (text.empty() ? "" : " ") + shared_name(graph_, inputs[i]);
    return text.empty() ? "-" : text;
  }

  const Graph& graph_;
  std::span<const StepFacts> steps_;
  std::vector<Line> lines_;
};

std::int64_t computing_nodes(const RunFacts& facts) {
  std::int64_t nodes = 0;
  for (const StepFacts& step : facts.steps) nodes += step.nodes;
  return nodes;
}

std::string_view strategy_name(const GraphOptions& options) {
  return options.own_strategy != nullptr ? options.own_strategy->name() : name_of(options.strategy);
}

std::string heading(const Graph& graph, std::string_view name, const plan::Plan& plan, const RunFacts& facts) {
  if (plan.steps() == 0) return fmt::format("{}: no step, as all values were there\n", name);
  std::string text = fmt::format("{}: {}", name, counted(computing_nodes(facts), "node"));
  if (facts.instances > 0) text += fmt::format(" of {}", counted(facts.instances, "instance"));
  const std::string_view least = plan.bound_is_exact ? "" : "at least ";
  const std::string_view most = plan.bound_is_exact ? "" : "at most ";
  text += fmt::format(" in {} (bound {}{}, forced {}{}), {}", counted(plan.steps(), "step"), least, plan.bound, most,
                      plan.forced, strategy_name(graph.options()));
  if (facts.copied > 0) text += fmt::format(", {} copied", bytes_text(facts.copied));
  return text + "\n";
}

/// Puts runs into words, those that are alike together, until there are enough lines.
class RunText {
 public:
  RunText(const Graph& graph, const NodeTable& table) : graph_(graph), reader_(graph, table) {}

  void add(std::string_view kind, std::span<const Run> runs) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      RunFacts facts = reader_.read(runs[i]);
      if (alike_ > 0 && runs[i].plan->bound == plan_->bound && facts.is_like(facts_)) {
        ++alike_;
        continue;
      }
      flush(kind);
      plan_ = runs[i].plan.get();
      facts_ = std::move(facts);
      first_ = i;
      alike_ = 1;
    }
    flush(kind);
  }

  std::string text() const {
    if (left_out_ == 0) return text_;
    return text_ + fmt::format("and {}, of {} in {}\n", counted(left_out_, "more run"),
                               counted(nodes_left_out_, "node"), counted(steps_left_out_, "step"));
  }
  std::span<const Group> groups() const { return reader_.groups(); }

 private:
  void flush(std::string_view kind) {
    const std::int64_t runs = std::exchange(alike_, 0);
    if (runs == 0) return;
    if (lines_ >= kMostLines) {
      left_out_ += runs;
      nodes_left_out_ += runs * computing_nodes(facts_);
      steps_left_out_ += runs * plan_->steps();
      return;
    }
    const auto number = static_cast<std::int64_t>(first_) + 1;
    const std::string numbers = range(number, number + runs - 1);
    text_ += heading(graph_, fmt::format("{}{}{}", kind, runs > 1 ? "s " : " ", numbers) + (runs > 1 ? ", each" : ""),
                     *plan_, facts_);
    ++lines_;
    if (facts_.steps.empty()) return;
    StepTable table(graph_, facts_.steps);
    table.fill(kMostLines - lines_);
    table.print(text_);
    lines_ += table.size();
  }

  const Graph& graph_;
  RunReader reader_;
  std::string text_;
  std::size_t lines_ = 0;
  // Runs that are alike and not put into words yet.
  RunFacts facts_;
  const plan::Plan* plan_ = nullptr;
  std::size_t first_ = 0;
  std::int64_t alike_ = 0;

  std::int64_t left_out_ = 0;
  std::int64_t nodes_left_out_ = 0;
  std::int64_t steps_left_out_ = 0;
};

}  // namespace

std::string shared_name(const Graph& graph, NodeId node) {
  if (const Parameter* parameter = graph.parameter_of(node)) return fmt::format("\"{}\"", parameter->name());
  return fmt::format("node {}", index_of(node));
}

std::string memory_text(const plan::Plan& plan, bool with_gradients) {
  std::string text = "memory: " + bytes_text(plan.values.bytes) + " for values";
  if (with_gradients) text += ", " + bytes_text(plan.gradients.bytes) + " for gradients";
  return text + "\n";
}

std::string explain_runs(const Graph& graph, const NodeTable& table, std::span<const Run> runs,
                         std::span<const Run> finished, const Statistics& statistics) {
  RunText text_of_runs(graph, table);
  text_of_runs.add("run", runs);
  text_of_runs.add("finishing run", finished);
  std::string text = text_of_runs.text();
  if (const std::int64_t freed = statistics.runs - std::ssize(runs) - std::ssize(finished); freed > 0)
    text += fmt::format("{} not shown: their values were given up\n",
                        freed == 1 ? "1 run is" : fmt::format("{} runs are", freed));
  std::string free;
  if (statistics.views > 0) free = counted(statistics.views, "view") + " (parts of other nodes)";
  if (statistics.merged > 0)
    free += fmt::format("{}{} (equal to others)", free.empty() ? "" : ", ", counted(statistics.merged, "merged node"));
  if (!free.empty()) text += "took no step: " + free + "\n";

  const AskedRuns asked = asked_runs(graph, table, runs);
  if (asked.loses_batches)
    text += fmt::format(
        "values were asked for one by one: {}, where {} would do if the instances asked at the same time\n  hint: "
        "g.compute({{a, b}}) computes several in one run; tasks do so for all instances "
        "(docs/control_flow.md)\n",
        counted(asked.runs, "run"), asked.needed);

  const std::vector<Apart> sentences = reasons(graph, text_of_runs.groups(), statistics.parts > 0);
  if (sentences.empty()) return text;
  text += "what did not run together, and why:\n";
  const std::size_t shown = std::min(sentences.size(), kMostReasons);
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("  {}: {}\n", sentences[i].places, sentences[i].why);
  if (sentences.size() > shown) text += fmt::format("  and {} more, of fewer nodes\n", sentences.size() - shown);
  return text;
}

}  // namespace espalier::exec
