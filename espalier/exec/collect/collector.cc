#include "espalier/exec/collect/collector.h"

#include <algorithm>

#include "espalier/base/at.h"
#include "espalier/exec/collect/backward_request.h"

namespace espalier::exec {

Work& Collector::collect(std::span<const NodeId> nodes, plan::Lifetime lifetime, const BackwardRequest* request) {
  const bool is_first = table_.same.empty();
  make_room();
  forget_problem();
  work_.problem.lifetime = lifetime;
  if (is_first && request != nullptr)
    take_reached(*request);
  else if (is_first)
    find_needed(nodes);
  else
    find_pending(nodes, lifetime == plan::Lifetime::kTraining);
  if (lifetime == plan::Lifetime::kFinish && graph_.any_many()) {
    asked_.start(graph_.size());
    for (NodeId node : nodes) asked_.put(node);
  }
  const bool reads_tables = may_read_tables(nodes);
  add_pending(reads_tables);
  set_outputs(nodes);
  plan::Problem& problem = work_.problem;
  if (graph_.any_many()) {
    problem.rows.resize(work_.nodes.size());
    for (std::size_t i = 0; i < work_.nodes.size(); ++i) problem.rows[i] = graph_.rows(work_.nodes[i]);
  }
  for (const std::vector<NodeId>* list : {&work_.nodes, &work_.further})
    for (NodeId node : *list) number_[at(node)] = -1;
  for (std::size_t signature : signatures_) {
    problem.facts.push_back(facts_[signature]);
    problem.operand_bytes.push_back(operand_bytes_[signature]);
    problem.columns.push_back(columns_[signature]);
    signature_number_[signature] = -1;
  }
  signatures_.clear();
  return work_;
}

/// What was said of the problem before.
void Collector::forget_problem() {
  work_.problem.clear_facts();
  work_.elsewhere.clear();
  work_.leaves.clear();
  work_.further.clear();
  work_.views = work_.merged = 0;
}

/// Marks the nodes that outlive the run.
void Collector::set_outputs(std::span<const NodeId> nodes) {
  std::vector<std::uint8_t>& is_output = work_.problem.is_output;
  is_output.assign(work_.nodes.size(), 0);
  const auto set = [&](NodeId node) {
    const std::int32_t number = number_[at(table_.root[at(table_.same[at(node)])])];
    if (number >= kFurther)
      is_output[at(number - kFurther)] |= plan::Problem::kFurtherOutput;
    else if (number >= 0)
      is_output[at(number)] |= plan::Problem::kOutput;
  };
  for (NodeId node : nodes) set(node);
  if (table_.any_kept)
    for (NodeId node : pending_)
      if ((table_.flags[at(node)] & NodeTable::kKeep) != 0) set(node);
}

/// For all nodes and signatures of the graph.
void Collector::make_room() {
  table_.resize(graph_);
  number_.resize(static_cast<std::size_t>(graph_.size()), -1);
  const auto signatures = static_cast<std::size_t>(graph_.signatures().size());
  const std::size_t variants = NodeTable::kVariants * signatures;
  if (facts_.size() == variants) return;
  facts_.resize(variants);
  operand_bytes_.resize(variants);
  columns_.resize(variants);
  signature_number_.resize(variants, -1);
}

/// Of a graph in which nothing was computed yet: all that `nodes` depend on, ascending.
void Collector::find_needed(std::span<const NodeId> nodes) {
  pending_.clear();
  marks_.start(graph_.size());
  std::int32_t last = -1;
  for (NodeId node : nodes) {
    marks_.put(node);
    last = std::max(last, index_of(node));
  }
  is_met_.assign(static_cast<std::size_t>(graph_.signatures().size()), 0);
  const bool asks_who_reads = work_.problem.lifetime == plan::Lifetime::kFinish && graph_.any_many();
  if (asks_who_reads) together_.start(graph_.size());
  for (std::int32_t i = last; i >= 0; --i) {
    const NodeId node{i};
    if (!marks_.has(node)) continue;
    const SignatureFacts& of = known_.of(node);
    std::uint8_t& is_met = is_met_[static_cast<std::size_t>(index_of(graph_.signature_id(node)))];
    // The results of a cell are computed together; they follow it, and one of them marks it.
    for (std::int32_t k = 1; k < of.results; ++k) {
      marks_.put(NodeId{i + k});
      last = std::max(last, i + k);
    }
    // All nodes of a signature have the same parameters.
    const std::span<const NodeId> inputs = graph_.inputs(node);
    for (NodeId input : is_met != 0 ? of.in_plan(inputs) : inputs) marks_.put(input);
    is_met = 1;
    if (asks_who_reads && !of.takes_apart)
      for (NodeId input : of.in_plan(inputs)) together_.put(input);
  }
  pending_.resize(at(last + 1));
  std::size_t count = 0;
  for (std::int32_t i = 0; i <= last; ++i) {
    pending_[count] = NodeId{i};
    count += marks_.has(NodeId{i}) ? 1 : 0;
  }
  pending_.resize(count);
}

/// The same, where it is known.
void Collector::take_reached(const BackwardRequest& request) {
  marks_.start(graph_.size());
  pending_.resize(static_cast<std::size_t>(graph_.size()));
  std::size_t count = 0;
  for (std::int32_t i = 0; i < graph_.size(); ++i) {
    const NodeId node{i};
    if (!request.is_reached(node)) continue;
    pending_[count++] = node;
    marks_.put(node);
  }
  pending_.resize(count);
}

/// Ascending. A merged node brings along what is computed in its place.
void Collector::find_pending(std::span<const NodeId> nodes, bool training) {
  pending_.clear();
  marks_.start(graph_.size());
  const auto visit = [&](NodeId node, bool pending) {
    if (pending && marks_.set(node)) pending_.push_back(node);
  };
  const auto has_no_value = [&](NodeId node) { return !table_.has_value(node); };
  const auto is_missing = [&](NodeId node) {
    if (table_.is_given(node)) return false;
    return has_no_value(node) || (training && table_.run[at(node)] < 0 && !graph_.inputs(node).empty());
  };
  // Once differentiated, a node may have lost its value to those that need its memory: that alone brings nothing in.
  for (NodeId node : nodes) visit(node, training && table_.run[at(node)] >= 0 ? false : is_missing(node));
  for (std::size_t next = 0; next < pending_.size(); ++next) {  // the list is its own queue
    const NodeId node = pending_[next];
    if (table_.same[at(node)] != node) {
      visit(table_.same[at(node)], is_missing(table_.same[at(node)]));
      continue;
    }
    // The results of a cell are computed together.
    const OpInfo& info = *graph_.signature(node).info;
    for (std::int32_t k = 1; k < info.results; ++k) visit(NodeId{index_of(node) + k}, true);
    if (info.kind == Kind::kResult)
      visit(NodeId{index_of(node) - info.result}, true);
    else
      for (NodeId input : graph_.inputs(node)) visit(input, is_missing(input));
  }
  if (pending_.empty()) return;
  if (work_.problem.lifetime == plan::Lifetime::kFinish && graph_.any_many()) {
    together_.start(graph_.size());
    for (NodeId node : pending_) {
      const SignatureFacts& of = known_.of(node);
      if (of.takes_apart) continue;
      for (NodeId input : of.in_plan(graph_.inputs(node))) together_.put(input);
    }
  }
  const auto [low, high] = std::minmax_element(pending_.begin(), pending_.end());
  const std::int32_t first = index_of(*low);
  const std::int32_t last = index_of(*high);
  constexpr std::int64_t kSparse = 16;
  if ((last - first) / kSparse > static_cast<std::int64_t>(pending_.size())) {
    std::sort(pending_.begin(), pending_.end());
    return;
  }
  pending_.clear();
  for (std::int32_t i = first; i <= last; ++i)
    if (marks_.has(NodeId{i})) pending_.push_back(NodeId{i});
}

/// Whether lookups need no rows of their own: what a parameter holds there is their value. Not where that could be read
/// behind the run, when the parameter may have changed.
bool Collector::may_read_tables(std::span<const NodeId> nodes) {
  if (work_.problem.lifetime != plan::Lifetime::kFinish || table_.any_kept) return false;
  return std::none_of(nodes.begin(), nodes.end(), [&](NodeId node) {
    while (known_.of(node).is_view) node = graph_.inputs(node)[0];
    return known_.of(node).is_lookup;
  });
}

}  // namespace espalier::exec
