#include "espalier/exec/run/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "espalier/base/denormals.h"
#include "espalier/base/error.h"
#include "espalier/exec/all_or_nothing.h"
#include "espalier/exec/bind/equal_rows.h"
#include "espalier/exec/bind/row_source.h"
#include "espalier/exec/parameter_versions.h"
#include "espalier/exec/pass/forward.h"
#include "espalier/exec/traced.h"

namespace espalier::exec {
void Engine::take_memory_of(std::vector<Run>& runs) {
  if (runs.empty()) return;
  std::swap(spare_.nodes, runs.back().nodes);
  std::swap(spare_.rows, runs.back().rows);
  std::swap(spare_.asked, runs.back().asked);
  runs.clear();
}

void Engine::clear() {
  table_.clear();
  known_.clear();
  collector_.clear();
  memory_.clear();
  take_memory_of(runs_);
  take_memory_of(finished_);
  memory_of_runs_ = 0;
  memory_of_finished_ = 0;
  parameters_.clear();
  forget_wanted();
  statistics_ = {};
}

Work* Engine::prepare(std::span<const NodeId> nodes, plan::Lifetime lifetime, const BackwardRequest* request) {
  bool freed = false;
  bool is_missing = lifetime == plan::Lifetime::kTraining;
  for (NodeId node : nodes) {
    require_unchanged(graph_, node);
    const bool is_known = at(node) < table_.run.size();
    if (is_known) require_unchanged(graph_, table_.root[at(table_.same[at(node)])]);  // a view of a parameter
    is_missing |= !is_known || !table_.has_value(node);
    freed |= is_known && table_.run[at(node)] >= 0 && !table_.has_value(node);
  }
  if (!is_missing) return nullptr;
  Stopwatch watch;
  const bool traced = Trace::is_on();
  SpanTimer span(traced, [&] { return span_of(graph_, Doing::kCollecting, statistics_.runs); });
  Work& work = collector_.collect(nodes, lifetime, request);
  asked_.assign(nodes.begin(), nodes.end());
  watch.lap(statistics_.seconds.planning);
  span.stop();
  if (work.nodes.empty() && work.elsewhere.empty() && work.leaves.empty()) return nullptr;
  refuse_mixture(graph_, parameters_, nodes, marks_, freed);
  for (NodeId leaf : work.leaves) {
    set_value(table_, leaf, row_source(graph_, table_, leaf));
    if (graph_.shared(leaf)) parameters_.push_back(leaf);
  }
  return &work;
}

Run Engine::open_run(const Work& work, std::shared_ptr<const plan::Plan> plan) {
  Run run;
  run.nodes = std::move(spare_.nodes);
  run.rows = std::move(spare_.rows);
  run.nodes = work.nodes;
  run.values = work.problem.lifetime == plan::Lifetime::kAll ? memory_.take_lasting(plan->values.bytes)
                                                             : memory_.take(plan->values.bytes);
  run.training = work.problem.lifetime == plan::Lifetime::kTraining;
  run.run_number = statistics_.runs;
  run.asked = std::move(spare_.asked);
  run.asked = asked_;
  run.plan = std::move(plan);
  run.order_rows();
  return run;
}

void Engine::place_rows(const Work& work, const Run& run) {
  for (std::size_t i = 0; i < work.nodes.size(); ++i)
    table_.set_value(work.nodes[i], run.row_of(static_cast<std::int32_t>(i)));
  run.for_each_further(graph_, run.values, run.plan->values,
                       [&](NodeId result, std::byte* where, bool) { table_.set_value(result, where); });
  for (NodeId node : work.elsewhere) set_value(table_, node, row_source(graph_, table_, node));
}

void Engine::compute_rows(const Work& work, const Run& run) {
  Stopwatch watch;
  const bool traced = Trace::is_on();
  if (traced) trace_memory(run.memory());
  SpanTimer span(traced, [&] { return span_of(graph_, Doing::kForward, run.run_number); });
  try {
    run_forward(graph_, table_, run, steps_, statistics_);
  } catch (...) {
    for (const std::vector<NodeId>* list : {&work.nodes, &work.elsewhere, &work.further})
      for (NodeId node : *list) table_.drop_value(node);
    memory_.give(run.values);
    throw;
  }
  watch.lap(statistics_.seconds.forward);
  span.stop();
  statistics_.take_peak(memory_beside() + memory_.bytes_used() + run.memory(), memory_.bytes_used());
}

void Engine::run(Work& work, std::shared_ptr<const plan::Plan> plan) {
  Run run = open_run(work, std::move(plan));
  place_rows(work, run);
  compute_rows(work, run);
  const bool is_recorded = work.problem.lifetime != plan::Lifetime::kFinish;
  if (is_recorded) note_run(work, *run.plan);
  drop_values(work, run);
  count(work, *run.plan);
  (is_recorded ? memory_of_runs_ : memory_of_finished_) += run.memory();
  if (is_recorded) {
    runs_.push_back(std::move(run));
  } else {
    move_outputs(work, run);
    run.values = nullptr;
    finished_.push_back(std::move(run));
  }
}

void Engine::note_run(const Work& work, const plan::Plan& plan) {
  const auto number = static_cast<std::int32_t>(runs_.size());
  // True unless it is computed once more: backward goes through the first time.
  const auto is_first = [&](NodeId node) {
    if (table_.run[at(node)] >= 0) return false;
    table_.run[at(node)] = number;
    return true;
  };
  const auto add_region = [&](NodeId node, NodeId base, std::int64_t offset) {
    table_.base[at(node)] = base;
    table_.offset[at(node)] = offset;
    table_.regions.push_back(node);
  };
  for (std::size_t i = 0; i < work.nodes.size(); ++i) {
    if (!is_first(work.nodes[i]) || plan.inside[i] < 0) continue;
    const auto whole = at(plan.inside[i]);
    add_region(work.nodes[i], work.nodes[whole], plan.within[i] - plan.within[whole]);
  }
  for (NodeId result : work.further) is_first(result);
  for (NodeId node : work.elsewhere) {
    if (!is_first(node) || table_.same[at(node)] != node) continue;
    const RowSource source = row_source(graph_, table_, node);
    add_region(node, table_.base[at(source.from)],
               table_.offset[at(source.from)] + (source.address - table_.address[at(source.from)]));
  }
}

void Engine::drop_values(const Work& work, const Run& run) {
  lasting_.clear();
  for (std::size_t i = 0; i < work.nodes.size(); ++i)
    if (run.plan->lasts[i] != 0)
      lasting_.push_back(i);
    else
      table_.drop_value(work.nodes[i]);
  bool any_dropped = lasting_.size() < work.nodes.size();
  if (!work.further.empty() && work.problem.lifetime != plan::Lifetime::kAll)
    run.for_each_further(graph_, run.values, run.plan->values, [&](NodeId result, std::byte*, bool lasts) {
      if (lasts) return;
      table_.drop_value(result);
      any_dropped = true;
    });
  if (work.problem.lifetime != plan::Lifetime::kAll)
    for (NodeId node : work.elsewhere) {
      const RowSource source = row_source(graph_, table_, node);
      if (source.lasts() && table_.has_value(source.from)) continue;
      table_.drop_value(node);
      any_dropped = true;
    }
  if (any_dropped) collector_.forget_merged();
}

void Engine::count(const Work& work, const plan::Plan& plan) {
  ++statistics_.runs;
  statistics_.nodes += std::ssize(work.nodes);
  statistics_.views += work.views;
  statistics_.merged += work.merged;
  statistics_.steps += plan.steps();
  statistics_.bound += plan.bound;
  statistics_.bound_is_exact = statistics_.bound_is_exact && plan.bound_is_exact;
  statistics_.forced += plan.forced;
}

void Engine::move_outputs(const Work& work, const Run& run) {
  // A row that contains others moves as a whole, and they with it: they last as long.
  const auto moves = [&](std::size_t i) { return run.plan->inside[i] < 0; };
  std::vector<NodeId>& moved = moved_;
  moved.clear();
  for (const std::size_t i : lasting_)
    if (moves(i)) moved.push_back(work.nodes[i]);
  for (NodeId result : work.further)
    if (table_.has_value(result)) moved.push_back(result);
  std::int64_t bytes = 0;
  for (NodeId node : moved) bytes += graph_.bytes(node);
  std::byte* to = memory_.take_lasting(bytes);
  for (NodeId node : moved) {
    const std::int64_t size = graph_.bytes(node);
    if (size > 0) std::memcpy(to, table_.address[at(node)], static_cast<std::size_t>(size));
    table_.address[at(node)] = to;
    to += size;
  }
  for (const std::size_t i : lasting_) {
    if (moves(i)) continue;
    const auto whole = at(run.plan->inside[i]);
    table_.address[at(work.nodes[i])] =
        table_.address[at(work.nodes[whole])] + (run.plan->within[i] - run.plan->within[whole]);
  }
  for (NodeId node : work.elsewhere)
    if (table_.has_value(node)) table_.address[at(node)] = row_source(graph_, table_, node).address;
  memory_.give(run.values);
}

void Engine::compute(std::span<const NodeId> nodes) {
  const FlushDenormals flush;
  if (Work* work = prepare(nodes, plan::Lifetime::kAll)) {
    std::shared_ptr<const plan::Plan> plan = plan_of(work->problem);
    if (const std::int64_t bytes = run_bytes(*plan); !fits(bytes))
      refuse("value", bytes, "Graph::finish() frees what it no longer needs");
    run(*work, std::move(plan));
  }
}

void Engine::finish(std::span<const NodeId> nodes) {
  const FlushDenormals flush;
  if (Work* work = prepare(nodes, plan::Lifetime::kFinish)) {
    std::shared_ptr<const plan::Plan> plan = plan_of(work->problem);
    if (const std::int64_t bytes = run_bytes(*plan); fits(bytes))
      run(*work, std::move(plan));
    else
      finish_in_parts(nodes, bytes);
  }
}

std::string Engine::explain_plan(std::span<const NodeId> nodes, RunKind kind) {
  constexpr std::array kLifetimes{plan::Lifetime::kAll, plan::Lifetime::kTraining, plan::Lifetime::kFinish};
  std::string text = "nothing to run\n";
  if (Work* work = prepare(nodes, kLifetimes[static_cast<std::size_t>(kind)])) {
    Run run;
    run.plan = plan_of(work->problem);
    run.nodes = work->nodes;
    run.order_rows();
    Statistics counts;
    counts.views = work->views;
    counts.merged = work->merged;
    const bool finishes = kind == RunKind::kFinish;
    text = explain_runs(graph_, table_, {&run, finishes ? 0U : 1U}, {&run, finishes ? 1U : 0U}, counts);
    text += memory_text(*run.plan, kind == RunKind::kBackward);
  }
  // The run itself begins as if nobody had asked.
  forget_values();
  parameters_.clear();
  statistics_ = {};
  return text;
}

void Engine::trace_memory(std::int64_t more) const {
  TimeSpan moment =
      span_of(graph_, Doing::kMemory, statistics_.runs, -1, memory_beside() + memory_.bytes_used() + more);
  moment.begin = Trace::now();
  moment.end = moment.begin;
  Trace::add(moment, {});
}

std::int64_t Engine::gradient_bytes() const {
  std::int64_t bytes = 0;
  for (const Run& run : runs_) bytes += run.plan->gradients.bytes;
  return bytes;
}

Batches Engine::batches() const { return read_runs(graph_, table_, runs_, finished_, statistics_); }

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
  memory_of_runs_ = 0;
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
    const bool is_leaf = graph_.inputs(node).empty();
    if (is_leaf && (graph_.options().memoise != Memoise::kAll || graph_.shared(node))) continue;  // never merged
    if (table_.is_wanted(node)) continue;
    const bool was_apart = table_.is_apart(node, is_whole) && !may_have_equal_rows(graph_, node);
    const NodeId first{index_of(node) - signature.info->result};
    for (std::int32_t k = 0; k < graph_.signature(first).info->results; ++k)
      table_.flags[at(NodeId{index_of(first) + k})] |= NodeTable::kApart;
    again |= (is_leaf ? table_.has_value(node) : table_.run[at(node)] >= 0) && !was_apart;
  }
  if (again) forget_values();
}

void Engine::differentiate(NodeId loss, const BackwardOptions& options) {
  require_scalar_loss(graph_, loss);
  const FlushDenormals flush;
  const Seed seed{loss, options.factor};
  steps_.forget();
  BackwardRequest request(graph_, known_, {&seed, 1}, options);  // refuses before anything runs
  AllOrNothing gradients_before(request.gradients());
  set_apart(options);
  if (std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.is_spent; })) forget_values();
  Work* work = prepare({&loss, 1}, plan::Lifetime::kTraining, &request);
  std::shared_ptr<const plan::Plan> plan = work != nullptr ? plan_of(work->problem) : nullptr;
  if (const std::int64_t bytes = training_bytes(plan.get(), options); !fits(bytes)) {
    differentiate_in_parts(loss, options, bytes);
    gradients_before.keep();
    return;
  }
  if (work != nullptr) run(*work, std::move(plan));
  std::vector<Tensor> gradients = go_back({&seed, 1}, std::move(request));
  forget_wanted();
  for (std::size_t i = 0; i < gradients.size(); ++i) add_wanted(options.wanted[i].node(), std::move(gradients[i]));
  gradients_before.keep();
}

std::vector<Tensor> Engine::go_back(std::span<const Seed> seeds, BackwardRequest request) {
  Stopwatch watch;
  const bool traced = Trace::is_on();
  SpanTimer span(traced, [&] { return span_of(graph_, Doing::kBackward, statistics_.runs - 1); });
  if (traced) trace_memory(gradient_bytes());
  request.follow_merged(table_);
  std::vector<Tensor> gradients =
      run_backward(graph_, table_, runs_, seeds, request, memory_, steps_, ledger_, statistics_, memory_beside());
  watch.lap(statistics_.seconds.backward);
  if (traced) trace_memory(0);
  return gradients;
}

}  // namespace espalier::exec
