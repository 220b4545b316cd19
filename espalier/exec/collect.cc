#include "espalier/exec/collect.h"

#include <algorithm>
#include <map>

namespace espalier::exec {

Work& Collector::collect(std::span<const NodeId> nodes, plan::Lifetime lifetime) {
  const bool is_first = table_.same.empty();
  table_.resize(graph_.size());
  number_.resize(static_cast<std::size_t>(graph_.size()), -1);
  work_.problem.clear();
  work_.problem.lifetime = lifetime;
  work_.nodes.clear();
  work_.aliases.clear();
  work_.leaves.clear();
  work_.views = work_.merged = work_.results = 0;

  if (is_first)
    find_needed(nodes);
  else
    find_pending(nodes, lifetime == plan::Lifetime::kTraining);
  for (NodeId node : pending_) add(node);
  plan::Problem& problem = work_.problem;
  problem.is_output.assign(work_.nodes.size(), 0);
  const auto set_output = [&](NodeId node) {
    const std::int32_t number = number_[at(table_.root[at(table_.same[at(node)])])];
    if (number >= 0) problem.is_output[static_cast<std::size_t>(number)] = 1;
  };
  for (NodeId node : nodes) set_output(node);
  for (NodeId node : pending_)
    if ((table_.flags[at(node)] & NodeTable::kKeep) != 0) set_output(node);

  for (NodeId node : work_.nodes) number_[at(node)] = -1;
  for (std::size_t signature : signatures_) {
    problem.facts.push_back(facts_[signature]);
    problem.operand_bytes.push_back(operand_bytes_[signature]);
    problem.columns.push_back(columns_[signature]);
    signature_number_[signature] = -1;
  }
  signatures_.clear();
  return work_;
}

Collector::OfSignature& Collector::of_signature(NodeId node) {
  const auto id = static_cast<std::size_t>(index_of(graph_.signature_id(node)));
  if (id >= of_signature_.size()) of_signature_.resize(static_cast<std::size_t>(graph_.signatures().size()));
  OfSignature& of = of_signature_[id];
  if (of.info == nullptr) {
    const Signature& signature = graph_.signature(node);
    of.info = signature.info;
    of.is_view = signature.view >= 0;
    of.operands = static_cast<std::int32_t>(graph_.inputs(node).size());
    if (of.info->takes_any_number()) {
      of.operands = OfSignature::kAll;
    } else {
      const auto is_parameter = [&](std::int32_t i) {
        const auto operand = static_cast<std::size_t>(i);
        return is_shared_operand(graph_, node, operand) && graph_.inputs(graph_.inputs(node)[operand]).empty();
      };
      while (of.operands > 0 && is_parameter(of.operands - 1)) --of.operands;
    }
  }
  return of;
}

/// Of a graph in which nothing was computed yet: all that `nodes` depend on, ascending.
void Collector::find_needed(std::span<const NodeId> nodes) {
  pending_.clear();
  marks_.start(graph_.size());
  std::int32_t last = -1;
  for (NodeId node : nodes) {
    marks_.set(node);
    last = std::max(last, index_of(node));
  }
  for (OfSignature& of : of_signature_) of.is_met = false;
  for (std::int32_t i = last; i >= 0; --i) {
    const NodeId node{i};
    if (!marks_.has(node)) continue;
    OfSignature& of = of_signature(node);
    // The results of a cell are computed together; they follow it, and one of them marks it.
    for (std::int32_t k = 1; k < of.info->results; ++k) {
      marks_.set(NodeId{i + k});
      last = std::max(last, i + k);
    }
    // All nodes of a signature have the same parameters.
    const std::span<const NodeId> inputs = graph_.inputs(node);
    for (NodeId input : of.is_met ? of.in_plan(inputs) : inputs) marks_.set(input);
    of.is_met = true;
  }
  for (std::int32_t i = 0; i <= last; ++i)
    if (marks_.has(NodeId{i})) pending_.push_back(NodeId{i});
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

void Collector::add(NodeId node) {
  const OfSignature& of = of_signature(node);
  const Kind kind = of.info->kind;
  if (kind == Kind::kLeaf) {
    work_.leaves.push_back(node);
    return;
  }
  if (table_.same[at(node)] != node || merge(node, *of.info)) {
    if (kind != Kind::kResult) ++work_.merged;
    work_.aliases.push_back(node);
    return;
  }
  const std::span<const NodeId> inputs = graph_.inputs(node);
  if (of.is_view && !table_.is_apart(node)) {
    ++work_.views;
    work_.aliases.push_back(node);
    table_.root[at(node)] = table_.root[at(table_.same[at(inputs[0])])];
    return;
  }
  plan::Problem& problem = work_.problem;
  if (kind == Kind::kResult) ++work_.results;
  number_[at(node)] = static_cast<std::int32_t>(work_.nodes.size());
  work_.nodes.push_back(node);
  problem.signature.push_back(signature_number(node));
  for (NodeId input : of.in_plan(inputs)) {
    const NodeId source = table_.same[at(input)];
    const NodeId root = table_.root[at(source)];
    problem.inputs.push_back(number_[at(root)]);
    problem.is_part.push_back(root != source ? 1 : 0);
  }
  problem.input_begin.push_back(static_cast<std::int32_t>(problem.inputs.size()));
}

bool Collector::is_memoable(NodeId node, const OpInfo& info) const {
  if (info.random || graph_.shared(node)) return false;
  if (graph_.options().memoise == Memoise::kAll) return true;
  const std::span<const NodeId> inputs = graph_.inputs(node);
  if (info.table_row != nullptr && graph_.shared(inputs[0])) return true;
  bool any = false;
  for (NodeId input : inputs) {
    const bool memoable = (table_.flags[at(table_.same[at(input)])] & NodeTable::kMemoable) != 0;
    if (!memoable && !graph_.shared(input)) return false;
    any |= memoable;
  }
  return any;
}

bool Collector::merge(NodeId node, const OpInfo& info) {
  if (info.kind == Kind::kResult) {
    // The results of a cell are merged together or not at all.
    const NodeId cell{index_of(node) - info.result};
    if (table_.same[at(cell)] == cell) return false;
    table_.same[at(node)] = NodeId{index_of(table_.same[at(cell)]) + info.result};
    return true;
  }
  if (graph_.options().memoise == Memoise::kOff || table_.run[at(node)] >= 0 || table_.is_apart(node)) return false;
  if (!is_memoable(node, info)) return false;
  table_.flags[at(node)] |= NodeTable::kMemoable;
  const bool training = work_.problem.lifetime == plan::Lifetime::kTraining;
  const NodeId equal = memo_.find_or_add(node, [&](NodeId other) {
    if (marks_.has(other)) return other < node;  // of this run, and met already
    return table_.has_value(other) && (!training || table_.run[at(other)] >= 0);
  });
  if (equal == node) return false;
  table_.same[at(node)] = equal;
  return true;
}

std::int32_t Collector::signature_number(NodeId node) {
  const std::int32_t id = 2 * index_of(graph_.signature_id(node)) + (table_.is_apart(node) ? 1 : 0);
  const auto i = static_cast<std::size_t>(id);
  if (i >= facts_.size()) {
    facts_.resize(2 * static_cast<std::size_t>(graph_.signatures().size()));
    operand_bytes_.resize(facts_.size());
    columns_.resize(facts_.size());
    signature_number_.resize(facts_.size(), -1);
  }
  if (signature_number_[i] < 0) {
    signature_number_[i] = static_cast<std::int32_t>(signatures_.size());
    signatures_.push_back(i);
    if (facts_[i].row_bytes == 0) find_facts(i, node);
  }
  return signature_number_[i];
}

/// The operands of products with shared weights, which are to lie side by side.
void Collector::find_blocks(std::size_t signature, NodeId node, plan::Facts& facts) {
  const OpInfo& info = *graph_.signature(node).info;
  const std::span<const NodeId> inputs = graph_.inputs(node);
  for (std::size_t i = 0; i < inputs.size(); ++i) facts.defers |= is_shared_operand(graph_, node, i);
  facts.is_product = facts.defers && info.kind == Kind::kProduct;
  facts.gathers = info.gathers;
  if (!facts.is_product && info.kind != Kind::kCell) return;
  std::vector<std::int64_t>& bytes = operand_bytes_[signature];
  std::vector<plan::BlockColumn>& columns = columns_[signature];
  columns.assign(inputs.size(), {});
  std::map<std::int32_t, std::int32_t> first_of_block;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    bytes.push_back(graph_.type(inputs[i]).elements * static_cast<std::int64_t>(sizeof(float)));
    if (info.inputs[i].block < 0 || is_shared_operand(graph_, node, i)) continue;
    facts.blocks |= 1U << i;
    const auto number = static_cast<std::int32_t>(i);
    const std::int32_t first = first_of_block.try_emplace(info.inputs[i].block, number).first->second;
    std::int64_t& row_bytes = columns[static_cast<std::size_t>(first)].row_bytes;
    columns[i].first = first;
    columns[i].before = row_bytes;
    row_bytes += bytes.back();
  }
  for (plan::BlockColumn& column : columns)
    column.row_bytes = columns[static_cast<std::size_t>(column.first)].row_bytes;
}

/// All nodes of a signature have the same facts.
void Collector::find_facts(std::size_t signature, NodeId node) {
  const Signature& of = graph_.signature(node);
  const OpInfo& info = *of.info;
  const Type& type = graph_.type(node);
  plan::Facts facts;
  facts.row_bytes = type.elements * static_cast<std::int64_t>(size_of(type.dtype));
  facts.saved_bytes = of.saved * static_cast<std::int64_t>(sizeof(float));
  facts.keeps_output = info.keep.output;
  facts.deferred_bytes = info.deferred * static_cast<std::int64_t>(sizeof(float));
  facts.result = info.result;
  facts.saves_for_backward_only = info.kind == Kind::kCell;
  facts.side_by_side = of.side_by_side && !table_.is_apart(node);
  std::vector<std::int64_t>& bytes = operand_bytes_[signature];
  bytes.clear();
  const std::span<const NodeId> inputs = graph_.inputs(node);
  if (info.takes_any_number()) {
    if (info.is_ragged() && info.keeps(0)) facts.keeps_inputs = ~0U;
    for (std::size_t i = 0; i < inputs.size() && !info.is_ragged(); ++i)
      if (info.keeps(i)) facts.keeps_inputs |= 1U << std::min<std::size_t>(i, 31);
    if (facts.side_by_side)
      for (NodeId input : inputs)
        bytes.push_back(graph_.type(input).elements * static_cast<std::int64_t>(size_of(type.dtype)));
  } else {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (info.keeps_input(i)) facts.keeps_inputs |= 1U << i;
    if (type.dtype == DType::kFloat32) find_blocks(signature, node, facts);
  }
  if (type.dtype == DType::kFloat64) facts.keeps_inputs = ~0U;  // the plain code is differentiated at its inputs
  facts_[signature] = facts;
}

}  // namespace espalier::exec
