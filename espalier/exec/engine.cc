#include "espalier/exec/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "espalier/base/denormals.h"
#include "espalier/base/error.h"
#include "espalier/batch/schedule.h"
#include "espalier/exec/equal_rows.h"
#include "espalier/exec/forward.h"
#include "espalier/exec/parameters.h"
#include "espalier/exec/plan_cache.h"

namespace espalier::exec {
namespace {

/// The nodes and edges that a strategy sees: operands from outside the run are left out, and the results of a cell are
/// one node.
class ScheduleInput {
 public:
  explicit ScheduleInput(const plan::Problem& problem) : problem_(problem) {
    for (const plan::Facts& facts : problem.facts) any_results_ |= facts.result > 0;
    if (any_results_) find_computing();
    const auto nodes = any_results_ ? lists_.node.size() : problem.signature.size();
    lists_.begin.resize(nodes + 1);
    lists_.inputs.resize(problem.inputs.size());
    std::int32_t* next = lists_.inputs.data();
    lists_.begin[0] = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto v = any_results_ ? at(lists_.node[i]) : i;
      for (std::int32_t p = problem.input_begin[v]; p < problem.input_begin[v + 1]; ++p) {
        const std::int32_t input = problem.inputs[at(p)];
        if (input >= 0) *next++ = any_results_ ? lists_.number[at(input)] : input;
      }
      lists_.begin[i + 1] = static_cast<std::int32_t>(next - lists_.inputs.data());
    }
    lists_.inputs.resize(at(lists_.begin[nodes]));
  }
  batch::Graph graph() const {
    return {any_results_ ? lists_.signature : problem_.signature, static_cast<std::int32_t>(problem_.facts.size()),
            lists_.begin, lists_.inputs};
  }

  /// The schedule of the problem's own nodes: behind each step those of further results.
  batch::Schedule expand(batch::Schedule schedule) const {
    if (!any_results_) return schedule;
    batch::Schedule all;
    all.bound = schedule.bound;
    all.bound_is_exact = schedule.bound_is_exact;
    all.forced = schedule.forced;
    all.order.resize(problem_.signature.size());
    std::int32_t* next = all.order.data();
    all.step_begin.assign(1, 0);
    for (std::size_t t = 0; t + 1 < schedule.step_begin.size(); ++t) {
      const auto first = at(schedule.step_begin[t]);
      const auto last = at(schedule.step_begin[t + 1]);
      const std::int32_t results = results_of(lists_.node[at(schedule.order[first])]);
      for (std::int32_t k = 0; k < results; ++k) {
        for (std::size_t p = first; p < last; ++p) *next++ = lists_.node[at(schedule.order[p])] + k;
        all.step_begin.push_back(static_cast<std::int32_t>(next - all.order.data()));
      }
    }
    return all;
  }

 private:
  const plan::Facts& facts(std::int32_t node) const {
    return problem_.facts[static_cast<std::size_t>(problem_.signature[static_cast<std::size_t>(node)])];
  }
  /// Further results follow their cell.
  std::int32_t results_of(std::int32_t node) const {
    std::int32_t next = node + 1;
    while (next < problem_.size() && facts(next).result == next - node) ++next;
    return next - node;
  }
  void find_computing() {
    const auto size = at(problem_.size());
    lists_.number.resize(size);
    lists_.node.resize(size);
    lists_.signature.resize(size);
    std::int32_t computing = -1;
    for (std::int32_t v = 0; v < problem_.size(); ++v) {
      if (facts(v).result == 0) {
        lists_.node[at(++computing)] = v;
        lists_.signature[at(computing)] = problem_.signature[at(v)];
      }
      lists_.number[at(v)] = computing;
    }
    lists_.node.resize(at(computing + 1));
    lists_.signature.resize(at(computing + 1));
  }

  const plan::Problem& problem_;
  bool any_results_ = false;
  /// Memory that a thread keeps from one schedule to the next.
  struct Lists {
    std::vector<std::int32_t> begin;
    std::vector<std::int32_t> inputs;
    std::vector<std::int32_t> number;  // by node: that of the node that computes it
    std::vector<std::int32_t> node;    // by number
    std::vector<std::int32_t> signature;

    static Lists& of_thread() {
      thread_local Lists lists;
      return lists;
    }
  };
  Lists& lists_ = Lists::of_thread();
};

/// Gives a lookup the row of its table as its value, or the table itself where it looks many up.
void read_in_table(const Graph& graph, NodeTable& table, NodeId lookup) {
  std::byte* const first = table.address[at(graph.inputs(lookup)[0])];
  if (graph.is_many(lookup)) {
    table.set_value(lookup, first);
    table.flags[at(lookup)] |= NodeTable::kInTable;
  } else {
    const std::int64_t row = graph.signature(lookup).info->table_row(graph.fields(lookup));
    table.set_value(lookup, first + row * graph.bytes(lookup));
  }
}

}  // namespace

void Engine::take_memory_of(std::vector<Run>& runs) {
  if (runs.empty()) return;
  std::swap(spare_.nodes, runs.back().nodes);
  std::swap(spare_.rows, runs.back().rows);
  runs.clear();
}

void Engine::clear() {
  table_.clear();
  collector_.clear();
  memory_.clear();
  take_memory_of(runs_);
  take_memory_of(finished_);
  parameters_.clear();
  forget_wanted();
  statistics_ = {};
  since_clear_ = Stopwatch();
}

Work* Engine::prepare(std::span<const NodeId> nodes, plan::Lifetime lifetime, const Wishes* wishes) {
  since_clear_.lap(statistics_.seconds.recording);
  bool freed = false;
  bool is_missing = lifetime == plan::Lifetime::kTraining;
  for (NodeId node : nodes) {
    require_unchanged(graph_, node);
    const bool is_known = at(node) < table_.run.size();
    is_missing |= !is_known || !table_.has_value(node);
    freed |= is_known && table_.run[at(node)] >= 0 && !table_.has_value(node);
  }
  if (!is_missing) return nullptr;
  Stopwatch watch;
  Work& work = collector_.collect(nodes, lifetime, wishes);
  watch.lap(statistics_.seconds.planning);
  if (work.nodes.empty() && work.aliases.empty() && work.leaves.empty()) return nullptr;
  refuse_mixture(graph_, parameters_, nodes, marks_, freed);
  for (NodeId leaf : work.leaves) {
    // Nothing writes to a leaf.
    table_.set_value(leaf, const_cast<std::byte*>(leaf_value(graph_, leaf)));
    if (graph_.shared(leaf)) parameters_.push_back(leaf);
  }
  return &work;
}

std::shared_ptr<const plan::Plan> Engine::plan_of(plan::Problem& problem) {
  Stopwatch watch;
  problem.strategy = graph_.options().strategy;
  ++statistics_.plans;
  const std::uint64_t hash = hash_of(problem);
  if (std::shared_ptr<const plan::Plan> known = find_plan(problem, hash)) {
    ++statistics_.plan_hits;
    watch.lap(statistics_.seconds.planning);
    return known;
  }
  const ScheduleInput input(problem);
  watch.lap(statistics_.seconds.planning);
  const batch::Schedule schedule = input.expand(batch::schedule(problem.strategy, input.graph()));
  watch.lap(statistics_.seconds.scheduling);
  // Once its runs were forgotten, the newest plan is of no use but for its memory.
  plan::Plan spare;
  if (newest_plan_ != nullptr && newest_plan_.use_count() == 1) spare = std::move(*newest_plan_);
  auto made = std::make_shared<plan::Plan>(plan::make_plan(problem, schedule, std::move(spare)));
  newest_plan_ = offer_plan(problem, hash, made) ? nullptr : made;
  watch.lap(statistics_.seconds.planning);
  return made;
}

NodeId Engine::source_of_alias(NodeId alias) const {
  const NodeId same = table_.same[at(alias)];
  return same != alias ? same : table_.same[at(graph_.inputs(alias)[0])];
}

std::byte* Engine::address_of_alias(NodeId alias) const {
  std::byte* const source = table_.address[at(source_of_alias(alias))];
  if (table_.same[at(alias)] != alias) return source;
  const Signature& signature = graph_.signature(alias);
  if (signature.info->reads_row != nullptr)
    return source + signature.info->reads_row(graph_.fields(alias)) * graph_.bytes(alias);
  return source + signature.view * static_cast<std::int64_t>(size_of(graph_.type(alias).dtype));
}

void Engine::run(Work& work, std::shared_ptr<const plan::Plan> plan) {
  Run run;
  run.nodes = std::move(spare_.nodes);
  run.rows = std::move(spare_.rows);
  run.nodes = work.nodes;
  run.training = work.problem.lifetime == plan::Lifetime::kTraining;
  run.values = memory_.take(plan->values.bytes);
  run.plan = std::move(plan);
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, memory_.bytes_used());
  const bool is_recorded = work.problem.lifetime != plan::Lifetime::kFinish;
  const auto number_of_run = static_cast<std::int32_t>(runs_.size());

  for (std::size_t i = 0; i < work.nodes.size(); ++i)
    table_.set_value(work.nodes[i], run.row_of(static_cast<std::int32_t>(i)));
  run.rows.resize(run.nodes.size());
  for (std::size_t r = 0; r < run.rows.size(); ++r)
    run.rows[r] = run.nodes[static_cast<std::size_t>(run.plan->order[r])];
  run.for_each_further(graph_, run.values, run.plan->values,
                       [&](NodeId result, std::byte* where) { table_.set_value(result, where); });
  for (NodeId lookup : work.in_table) read_in_table(graph_, table_, lookup);
  for (NodeId alias : work.aliases) table_.set_value(alias, address_of_alias(alias));

  Stopwatch watch;
  try {
    run_forward(graph_, table_, run, views_, statistics_);
  } catch (...) {
    for (NodeId node : work.nodes) table_.drop_value(node);
    for (NodeId node : work.aliases) table_.drop_value(node);
    for (NodeId node : work.in_table) table_.drop_value(node);
    for (NodeId node : work.further) table_.drop_value(node);
    memory_.give(run.values);
    throw;
  }
  watch.lap(statistics_.seconds.forward);

  const plan::Plan& made = *run.plan;
  if (is_recorded) {
    for (std::size_t i = 0; i < work.nodes.size(); ++i) {
      const NodeId node = work.nodes[i];
      if (table_.run[at(node)] >= 0) continue;  // computed once more: backward goes through the first time
      table_.run[at(node)] = number_of_run;
      if (made.inside[i] < 0) continue;
      const auto whole = static_cast<std::size_t>(made.inside[i]);
      table_.base[at(node)] = work.nodes[whole];
      table_.offset[at(node)] = made.within[i] - made.within[whole];
      table_.regions.push_back(node);
    }
    for (NodeId result : work.further)
      if (table_.run[at(result)] < 0) table_.run[at(result)] = number_of_run;
    for (NodeId alias : work.aliases) {
      if (table_.run[at(alias)] >= 0) continue;
      table_.run[at(alias)] = number_of_run;
      if (table_.same[at(alias)] != alias) continue;
      const NodeId source = source_of_alias(alias);
      table_.base[at(alias)] = table_.base[at(source)];
      table_.offset[at(alias)] = table_.offset[at(source)] + (address_of_alias(alias) - table_.address[at(source)]);
      table_.regions.push_back(alias);
    }
  }
  lasting_.clear();
  for (std::size_t i = 0; i < work.nodes.size(); ++i)
    if (made.lasts[i] != 0)
      lasting_.push_back(i);
    else
      table_.drop_value(work.nodes[i]);
  for (NodeId node : work.in_table) table_.drop_value(node);
  const bool keeps_further = drop_further(work, run);
  if (lasting_.size() < work.nodes.size() || !work.in_table.empty() || !keeps_further) {
    for (NodeId alias : work.aliases)
      if (!table_.has_value(source_of_alias(alias))) table_.drop_value(alias);
    collector_.forget_merged();
  }

  ++statistics_.runs;
  statistics_.nodes += static_cast<std::int64_t>(work.nodes.size()) - work.results;
  statistics_.views += work.views;
  statistics_.merged += work.merged;
  statistics_.steps += made.computing_steps;
  statistics_.bound += made.bound;
  statistics_.bound_is_exact = statistics_.bound_is_exact && made.bound_is_exact;
  statistics_.forced += made.forced;
  if (is_recorded) {
    runs_.push_back(std::move(run));
  } else {
    move_outputs(work, run);
    run.values = nullptr;
    finished_.push_back(std::move(run));
  }
}

/// Those whose memory is used again have no value any more; false where there were any.
bool Engine::drop_further(const Work& work, const Run& run) {
  if (work.further.empty() || work.problem.lifetime == plan::Lifetime::kAll) return true;
  bool all_last = true;
  for (std::int32_t step = 0; step < run.plan->steps(); ++step) {
    const NodeId first = run.rows_of(step)[0];
    const std::int32_t count =
        run.plan->further[static_cast<std::size_t>(step)] < 0 ? 0 : graph_.signature(first).info->results - 1;
    for (std::int32_t k = 0; k < count; ++k) {
      if (run.plan->further_lasts(step, k)) continue;
      all_last = false;
      for (NodeId node : run.rows_of(step)) table_.drop_value(NodeId{index_of(node) + 1 + k});
    }
  }
  return all_last;
}

void Engine::move_outputs(const Work& work, const Run& run) {
  std::int64_t bytes = 0;
  const auto row_bytes = [&](std::size_t i) {
    return work.problem.facts[static_cast<std::size_t>(work.problem.signature[i])].row_bytes *
           work.problem.rows_of(static_cast<std::int32_t>(i));
  };
  // A row that contains others moves as a whole, and they with it: they last as long.
  const auto moves = [&](std::size_t i) { return run.plan->inside[i] < 0; };
  for (const std::size_t i : lasting_)
    if (moves(i)) bytes += row_bytes(i);
  std::byte* to = memory_.take(bytes);
  for (const std::size_t i : lasting_) {
    if (!moves(i)) continue;
    if (row_bytes(i) > 0) std::memcpy(to, table_.address[at(work.nodes[i])], static_cast<std::size_t>(row_bytes(i)));
    table_.address[at(work.nodes[i])] = to;
    to += row_bytes(i);
  }
  for (const std::size_t i : lasting_) {
    if (moves(i)) continue;
    const auto whole = static_cast<std::size_t>(run.plan->inside[i]);
    table_.address[at(work.nodes[i])] =
        table_.address[at(work.nodes[whole])] + (run.plan->within[i] - run.plan->within[whole]);
  }
  for (NodeId alias : work.aliases) table_.address[at(alias)] = address_of_alias(alias);
  memory_.give(run.values);
}

void Engine::compute(std::span<const NodeId> nodes) {
  const FlushDenormals flush;
  if (Work* work = prepare(nodes, plan::Lifetime::kAll)) {
    std::shared_ptr<const plan::Plan> plan = plan_of(work->problem);
    if (!fits(plan->values.bytes)) refuse("value", plan->values.bytes, "Graph::finish() frees what it no longer needs");
    run(*work, std::move(plan));
    since_clear_ = Stopwatch();
  }
}

void Engine::finish(std::span<const NodeId> nodes) {
  const FlushDenormals flush;
  if (Work* work = prepare(nodes, plan::Lifetime::kFinish)) {
    std::shared_ptr<const plan::Plan> plan = plan_of(work->problem);
    if (fits(plan->values.bytes))
      run(*work, std::move(plan));
    else
      finish_in_parts(nodes, plan->values.bytes);
    since_clear_ = Stopwatch();
  }
}

void Engine::keep(NodeId node) {
  table_.resize(graph_);
  table_.flags[at(node)] |= NodeTable::kKeep;
  table_.any_kept = true;
}

void Engine::forget_values() {
  const std::vector<std::uint8_t> flags = table_.flags;
  const bool any_kept = table_.any_kept;
  table_.clear();
  table_.resize(graph_);
  table_.any_kept = any_kept;
  constexpr auto kAsked = static_cast<std::uint8_t>(NodeTable::kKeep | NodeTable::kApart);
  for (std::size_t i = 0; i < flags.size(); ++i)
    table_.flags[i] = static_cast<std::uint8_t>(table_.flags[i] | (flags[i] & kAsked));
  collector_.forget_merged();
  runs_.clear();
  memory_.clear();
}

void Engine::set_apart(const BackwardOptions& options) {
  if (options.wanted.empty()) return;
  table_.resize(graph_);
  bool again = false;
  for (const Expr& expr : options.wanted) {
    const NodeId node = expr.node();
    const Signature& signature = graph_.signature(node);
    const bool is_whole = signature.view >= 0 && signature.info->takes_whole;
    if (graph_.inputs(node).empty() || table_.is_wanted(node)) continue;
    const bool was_apart = table_.is_apart(node, is_whole) && !may_have_equal_rows(graph_, node);
    const NodeId first{index_of(node) - signature.info->result};
    for (std::int32_t k = 0; k < graph_.signature(first).info->results; ++k)
      table_.flags[at(NodeId{index_of(first) + k})] |= NodeTable::kApart;
    again |= table_.run[at(node)] >= 0 && !was_apart;
  }
  if (again) forget_values();
}

void Engine::differentiate(NodeId loss, const BackwardOptions& options) {
  require_scalar_loss(graph_, loss);
  const FlushDenormals flush;
  const Seed seed{loss, options.factor};
  views_.forget();
  Wishes wishes(graph_, {&seed, 1}, options);  // refuses before anything runs
  set_apart(options);
  if (std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.is_spent; })) forget_values();
  Work* work = prepare({&loss, 1}, plan::Lifetime::kTraining, &wishes);
  std::shared_ptr<const plan::Plan> plan = work != nullptr ? plan_of(work->problem) : nullptr;
  if (const std::int64_t bytes = training_bytes(plan.get(), options); !fits(bytes)) {
    differentiate_in_parts(loss, options, bytes);
    since_clear_ = Stopwatch();
    return;
  }
  if (work != nullptr) run(*work, std::move(plan));
  std::vector<Tensor> gradients = go_back({&seed, 1}, std::move(wishes));
  forget_wanted();
  for (std::size_t i = 0; i < gradients.size(); ++i) add_wanted(options.wanted[i].node(), std::move(gradients[i]));
  since_clear_ = Stopwatch();
}

std::vector<Tensor> Engine::go_back(std::span<const Seed> seeds, Wishes wishes) {
  Stopwatch watch;
  wishes.follow_merged(table_);
  std::vector<Tensor> gradients =
      run_backward(graph_, table_, runs_, seeds, wishes, memory_, views_, ledger_, statistics_);
  watch.lap(statistics_.seconds.backward);
  return gradients;
}

}  // namespace espalier::exec
