/// What the engine does when a minibatch takes more than the memory budget: it runs instance after instance, as many at
/// a time as fit, where the loss is a weighted sum over them, or outputs belong to one instance each. What does not fit
/// by itself goes in segments (recompute.cc).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "espalier/base/error.h"
#include "espalier/exec/pass/deferred_rows.h"
#include "espalier/exec/pass/weight_gradients.h"
#include "espalier/exec/run/engine.h"

namespace espalier::exec {
namespace {

/// The loss as a sum of terms that each belong to one instance, by instance. Empty if it is none: `meeting` is then the
/// node where instances meet in another way.
std::vector<Term> terms_of(const Graph& graph, NodeId loss, NodeId& meeting) {
  std::vector<Term> terms;
  // The last recorded first: when a node's turn comes, all that use it have had theirs.
  std::map<NodeId, double, std::greater<>> open{{loss, 1}};
  while (!open.empty()) {
    const Seed next{open.begin()->first, open.begin()->second};
    open.erase(open.begin());
    if (graph.instance(next.node) != kJoint) {
      terms.push_back({graph.instance(next.node), next});
      continue;
    }
    const auto weight = graph.signature(next.node).info->weight;
    if (weight == nullptr) {
      meeting = next.node;
      return {};
    }
    const std::span<const NodeId> inputs = graph.inputs(next.node);
    std::size_t rows = 0;
    for (NodeId input : inputs) rows += static_cast<std::size_t>(graph.rows(input));
    for (NodeId input : inputs) open[input] += next.factor * weight(rows);
  }
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return a.instance != b.instance ? a.instance < b.instance : a.seed.node < b.seed.node;
  });
  return terms;
}

std::vector<Seed> seeds_of(std::span<const Term> part) {
  std::vector<Seed> seeds;
  for (const Term& term : part) seeds.push_back(term.seed);
  return seeds;
}

/// Values that outlive their part: of the terms, and what the user asked to keep.
class KeptValues {
 public:
  explicit KeptValues(const Graph& graph) : graph_(graph) {}

  void add(NodeId node, const std::byte* value) {
    nodes_.push_back(node);
    const std::size_t begin = values_.size();
    values_.resize(begin + room_of(node));
    std::memcpy(values_.data() + begin, value, static_cast<std::size_t>(graph_.bytes(node)));
  }
  /// A node of one element, in the place of what was added for it before.
  void add_number(NodeId node, double number) {
    const auto single = static_cast<float>(number);
    add(node, graph_.type(node).dtype == DType::kFloat32 ? reinterpret_cast<const std::byte*>(&single)
                                                         : reinterpret_cast<const std::byte*>(&number));
  }
  /// Adds the rows of a node of one element each to `total`, weighted.
  void add_weighted(NodeId node, double factor, const std::byte* value, double& total) const {
    for (std::int64_t row = 0; row < graph_.rows(node); ++row)
      total += factor * (graph_.type(node).dtype == DType::kFloat32
                             ? static_cast<double>(reinterpret_cast<const float*>(value)[row])
                             : reinterpret_cast<const double*>(value)[row]);
  }
  std::int64_t bytes() const { return std::ssize(values_); }
  /// Calls place(node, where) for each, in the order in which they were added.
  template <class Place>
  void move_to(std::byte* to, const Place& place) const {
    std::memcpy(to, values_.data(), values_.size());
    for (NodeId node : nodes_) {
      place(node, to);
      to += room_of(node);
    }
  }

 private:
  std::size_t room_of(NodeId node) const {  // as doubles want it
    const auto all = static_cast<std::size_t>(graph_.bytes(node));
    return (all + sizeof(double) - 1) / sizeof(double) * sizeof(double);
  }

  const Graph& graph_;
  std::vector<NodeId> nodes_;
  std::vector<std::byte> values_;  // one after the other
};

}  // namespace

std::int64_t Engine::memory_beside() const {
  return graph_.record_bytes() + table_.memory() + collector_.memory() + marks_.memory() + steps_.memory() +
         memory_of_runs_ + memory_of_finished_ + checkpoint_bytes_;
}

bool Engine::fits(std::int64_t more) const {
  const std::int64_t budget = graph_.options().memory_budget;
  return budget == 0 || memory_beside() + memory_.bytes_used() + more <= budget;
}

std::int64_t Engine::run_bytes(const plan::Plan& plan) const {
  const auto nodes = static_cast<std::int64_t>(plan.order.size());
  return plan.values.bytes + plan.memory() + 2 * nodes * static_cast<std::int64_t>(sizeof(NodeId));
}

std::int64_t Engine::pass_bytes(const plan::Plan& plan, std::span<const NodeId> nodes) const {
  const bool keeps_views = BoundSteps::keeps(plan);
  std::int64_t bytes = 0;
  for (std::int32_t step = 0; step < plan.steps(); ++step) {
    std::int64_t rows = 0;
    std::int64_t operands = 0;  // of all rows
    for (auto i = at(plan.step_begin[at(step)]); i < at(plan.step_begin[at(step) + 1]); ++i) {
      const NodeId node = nodes[at(plan.order[i])];
      rows += graph_.rows(node);
      operands += graph_.rows(node) * std::ssize(graph_.inputs(node));
    }
    const NodeId first = nodes[at(plan.order[at(plan.step_begin[at(step)])])];
    const OpInfo& info = *graph_.signature(first).info;
    if (keeps_views) bytes += BoundStep::most_memory(info, rows, operands);
    const auto inputs = info.takes_any_number() ? 0 : graph_.inputs(first).size();
    bool any_shared = false;
    for (std::size_t i = 0; i < inputs; ++i) any_shared |= is_shared_operand(graph_, first, i);
    if (any_shared) bytes += DeferredRows::most_memory(static_cast<std::int64_t>(inputs) + info.results + 4, rows);
  }
  return bytes;
}

std::int64_t Engine::training_bytes(const plan::Plan* plan, const BackwardOptions& options) const {
  if (graph_.options().memory_budget == 0) return 0;  // nobody asks
  const std::size_t runs = runs_.size() + (plan != nullptr ? 1 : 0);
  const auto gradients = [&](const plan::Plan& of) { return gradient_layout(of, runs, !options.wanted.empty()).bytes; };
  std::int64_t bytes = (Ledger::most_memory_of_node() + 1) * graph_.size() +  // and the flags of BackwardRequest
                       WeightGradients::memory_of_groups(graph_);
  if (plan != nullptr) bytes += run_bytes(*plan) + gradients(*plan) + pass_bytes(*plan, collector_.nodes());
  for (const Run& run : runs_) bytes += gradients(*run.plan) + pass_bytes(*run.plan, run.nodes);
  return bytes;
}

void Engine::refuse(std::string_view what, std::int64_t bytes, std::string_view why) const {
  throw ResourceError(fmt::format("{}: it takes {} bytes, {} are in use, and the memory budget is {}\n  {}", what,
                                  bytes, memory_beside() + memory_.bytes_used(), graph_.options().memory_budget, why));
}

void Engine::differentiate_in_parts(NodeId loss, const BackwardOptions& options, std::int64_t bytes) {
  if (!options.wanted.empty()) refuse("backward", bytes, "with wanted gradients a minibatch is not divided");
  NodeId meeting{};
  std::vector<Term> terms = terms_of(graph_, loss, meeting);
  std::string why_not_smaller;
  if (terms.empty()) {
    why_not_smaller = fmt::format("instances meet before the loss, in {}  {}, so that the minibatch cannot be divided",
                                  graph_.describe(meeting), graph_.source(meeting).to_string());
    terms.push_back({graph_.instance(loss), {loss, 1}});
  }
  forget_values();
  KeptValues kept(graph_);
  double total = 0;
  BackwardOptions without_values = options;  // later parts read them
  without_values.values = nullptr;
  const auto read = [&](const Segment& segment) {
    for (const Seed& seed : segment.seeds) {
      kept.add_weighted(seed.node, seed.factor, value(seed.node), total);
      kept.add(seed.node, value(seed.node));
    }
    for (std::int32_t i = 0; i < graph_.size(); ++i)
      if (const NodeId node{i};
          (table_.flags[at(node)] & NodeTable::kKeep) != 0 && table_.has_value(node) && !table_.is_given(node))
        kept.add(node, value(node));
  };
  // All parts are found before any runs: a refusal leaves the gradients alone.
  for (const Part& part : parts_that_fit(terms, without_values, why_not_smaller)) {
    differentiate_segments(part.segments, without_values, read);
    ++statistics_.parts;
  }
  // The loss is the sum of its terms: nothing need be run for it.
  kept.add_number(loss, total);
  std::byte* const to = memory_.take(kept.bytes());
  kept.move_to(to, [&](NodeId node, std::byte* where) { table_.set_value(node, where); });
}

std::vector<Part> Engine::parts_that_fit(std::span<const Term> terms, const BackwardOptions& options,
                                         const std::string& why_not_smaller) {
  std::vector<Part> parts;
  std::vector<std::span<const Term>> open{terms};
  while (!open.empty()) {
    const std::span<const Term> part = open.back();
    open.pop_back();
    const std::vector<Seed> seeds = seeds_of(part);
    const Segment whole{.given = {}, .made = {}, .seeds = seeds};
    const std::int64_t takes = bytes_of({&whole, 1}, options);
    if (fits(takes)) {
      parts.push_back({part, {whole}});
      continue;
    }
    if (part.front().instance == part.back().instance) {
      parts.push_back({part, segments_that_fit(seeds, options)});
      if (!parts.back().segments.empty()) continue;
      if (!why_not_smaller.empty()) refuse("backward", takes, why_not_smaller);
      refuse("backward", takes,
             part.front().instance == kNoInstance
                 ? "that is what belongs to no instance alone"
                 : fmt::format("that is instance {} alone", index_of(part.front().instance)));
    }
    // Divided in the middle, or after the instance that is there.
    std::size_t middle = part.size() / 2;
    while (middle > 0 && part[middle - 1].instance == part[middle].instance) --middle;
    if (middle == 0)
      while (part[middle].instance == part.front().instance) ++middle;
    open.push_back(part.subspan(middle));
    open.push_back(part.first(middle));
  }
  return parts;
}

void Engine::finish_in_parts(std::span<const NodeId> outputs, std::int64_t bytes) {
  if (outputs.size() < 2) refuse("finish", bytes, "that is for one output alone");
  ++statistics_.parts;
  const std::size_t middle = outputs.size() / 2;
  finish(outputs.first(middle));
  finish(outputs.subspan(middle));
}

}  // namespace espalier::exec
