#include "espalier/exec/explain/read_runs.h"

#include <algorithm>
#include <utility>

#include "espalier/exec/explain/report.h"

namespace espalier::exec {
namespace {

/// Of each step, the bytes of values that steps after it read, or that outlive the run.
std::vector<std::int64_t> bytes_needed(const Graph& graph, const NodeTable& table, const Run& run) {
  const auto steps = static_cast<std::size_t>(run.plan->steps());
  std::vector<std::int64_t> change(steps + 1, 0);
  std::vector<std::int32_t> last(static_cast<std::size_t>(graph.size()), -1);
  for (std::int32_t step = 0; step < run.plan->steps(); ++step)
    for (const NodeId node : run.rows_of(step))
      for (const NodeId input : graph.inputs(node)) last[at(table.root[at(table.same[at(input)])])] = step;
  std::vector<std::uint8_t> lasts(last.size(), 0);
  for (std::size_t i = 0; i < run.nodes.size(); ++i) lasts[at(run.nodes[i])] = run.plan->lasts[i];
  for (std::int32_t step = 0; step < run.plan->steps(); ++step)
    for (const NodeId node : run.rows_of(step)) {
      const std::int32_t results = graph.signature(node).info->results;
      for (std::int32_t k = 0; k < results; ++k) {
        const NodeId result{index_of(node) + k};
        const std::int64_t bytes = graph.bytes(result);
        change[at(step)] += bytes;
        const std::int32_t until = lasts[at(node)] != 0 ? run.plan->steps() : std::max(last[at(result)], step + 1);
        change[at(std::min(until, run.plan->steps()))] -= bytes;
      }
    }
  for (std::size_t s = 1; s <= steps; ++s) change[s] += change[s - 1];
  return change;
}

class RunsReader {
 public:
  RunsReader(const Graph& graph, const NodeTable& table) : graph_(graph), table_(table), reader_(graph, table) {
    batches_.nodes.resize(static_cast<std::size_t>(graph.size()));
  }

  void add(const Run& run, bool finish) {
    const RunFacts facts = reader_.read(run);
    const std::vector<std::int64_t> needed = bytes_needed(graph_, table_, run);
    const auto number = static_cast<std::int32_t>(batches_.runs.size());
    for (std::size_t s = 0; s < facts.steps.size(); ++s)
      add_step(run, facts.steps[s], number, static_cast<std::int32_t>(s), needed[s]);
    const plan::Plan& plan = *run.plan;
    batches_.runs.push_back({.number = run.run_number,
                             .training = run.training,
                             .finish = finish,
                             .steps = plan.steps(),
                             .bound = plan.bound,
                             .bound_is_exact = plan.bound_is_exact,
                             .instances = facts.instances,
                             .value_bytes = plan.values.bytes,
                             .gradient_bytes = run.training ? plan.gradients.bytes : 0});
  }

  Batches finish(const Statistics& statistics) {
    for (std::int32_t i = 0; i < std::ssize(batches_.nodes); ++i) read_node(NodeId{i});
    batches_.apart = reasons(graph_, reader_.groups(), statistics.parts > 0);
    batches_.statistics = statistics;
    return std::move(batches_);
  }

 private:
  void add_step(const Run& run, const StepFacts& facts, std::int32_t number, std::int32_t step, std::int64_t needed) {
    const auto of_all = static_cast<std::int32_t>(batches_.steps.size());
    std::int32_t row = 0;
    for (const NodeId node : run.rows_of(step)) {
      batches_.nodes[at(node)].step = of_all;
      batches_.nodes[at(node)].row = row;
      row += graph_.rows(node);
    }
    BatchedStep& to = batches_.steps.emplace_back();
    to = {.run = number,
          .step = step,
          .first = facts.first,
          .group = facts.group,
          .nodes = facts.nodes,
          .rows = facts.rows,
          .instances = facts.instances,
          .other_lines = facts.other_lines,
          .copied = facts.copied,
          .needed = needed,
          .shared = {}};
    const std::span<const NodeId> inputs = graph_.inputs(facts.first);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (is_one_for_all(graph_, facts.first, i))
        to.shared.push_back(graph_.parameter_of(inputs[i]) != nullptr
                                ? std::string(graph_.parameter_of(inputs[i])->name())
                                : shared_name(graph_, inputs[i]));
  }

  void read_node(NodeId node) {
    BatchedNode& to = batches_.nodes[at(node)];
    to.computed_by = node;
    if (at(node) >= table_.same.size()) return;
    const NodeId same = table_.same[at(node)];
    to.merged = same != node;
    const NodeId root = table_.root[at(same)];
    const OpInfo& info = *graph_.signature(root).info;
    to.computed_by = info.kind == Kind::kResult ? NodeId{index_of(root) - info.result} : root;
  }

  const Graph& graph_;
  const NodeTable& table_;
  RunReader reader_;
  Batches batches_;
};

}  // namespace

Batches read_runs(const Graph& graph, const NodeTable& table, std::span<const Run> runs, std::span<const Run> finished,
                  const Statistics& statistics) {
  RunsReader reader(graph, table);
  // Both lists are in the order in which they ran.
  std::size_t r = 0;
  std::size_t f = 0;
  while (r < runs.size() || f < finished.size()) {
    const bool is_finish = r == runs.size() || (f < finished.size() && finished[f].run_number < runs[r].run_number);
    reader.add(is_finish ? finished[f] : runs[r], is_finish);
    ++(is_finish ? f : r);
  }
  return reader.finish(statistics);
}

}  // namespace espalier::exec
