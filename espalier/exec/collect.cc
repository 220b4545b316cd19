#include "espalier/exec/collect.h"

#include <algorithm>
#include <map>

#include "espalier/base/at.h"
#include "espalier/exec/backward.h"

namespace espalier::exec {

Work& Collector::collect(std::span<const NodeId> nodes, plan::Lifetime lifetime, const Wishes* wishes) {
  const bool is_first = table_.same.empty();
  make_room();
  forget_problem();
  work_.problem.lifetime = lifetime;
  if (is_first && wishes != nullptr)
    take_reached(*wishes);
  else if (is_first)
    find_needed(nodes);
  else
    find_pending(nodes, lifetime == plan::Lifetime::kTraining);
  if (lifetime == plan::Lifetime::kFinish && graph_.any_many()) {
    asked_.start(graph_.size());
    for (NodeId node : nodes) asked_.put(node);
  }
  const bool reads_tables = may_read_tables(nodes);
  while (!add_pending(reads_tables) || !set_outputs(nodes)) forget_problem();
  plan::Problem& problem = work_.problem;
  if (graph_.any_many()) {
    problem.rows.resize(work_.nodes.size());
    for (std::size_t i = 0; i < work_.nodes.size(); ++i) problem.rows[i] = graph_.rows(work_.nodes[i]);
  }
  forget_numbers();
  for (std::size_t signature : signatures_) {
    problem.facts.push_back(facts_[signature]);
    problem.operand_bytes.push_back(operand_bytes_[signature]);
    problem.columns.push_back(columns_[signature]);
    signature_number_[signature] = -1;
  }
  signatures_.clear();
  return work_;
}

void Collector::forget_numbers() {
  for (NodeId node : work_.nodes) number_[at(node)] = -1;
  for (NodeId node : work_.further) number_[at(node)] = -1;
}

/// What was said of it so far, where it is to be said again.
void Collector::forget_problem() {
  if (!signatures_.empty()) forget_numbers();
  for (std::size_t signature : signatures_) signature_number_[signature] = -1;
  signatures_.clear();
  work_.problem.clear_facts();
  work_.aliases.clear();
  work_.leaves.clear();
  work_.in_table.clear();
  work_.further.clear();
  work_.views = work_.merged = work_.results = 0;
}

/// What outlives the run. False where that is a further result, which only nodes can.
bool Collector::set_outputs(std::span<const NodeId> nodes) {
  work_.problem.is_output.assign(work_.nodes.size(), 0);
  bool all_are_nodes = true;
  const auto set_output = [&](NodeId node) {
    const NodeId root = table_.root[at(table_.same[at(node)])];
    const std::int32_t number = number_[at(root)];
    if (number >= kFurther) {
      make_nodes_of_results(root);
      all_are_nodes = false;
    } else if (number >= 0) {
      work_.problem.is_output[static_cast<std::size_t>(number)] = 1;
    }
  };
  for (NodeId node : nodes) set_output(node);
  if (table_.any_kept)
    for (NodeId node : pending_)
      if ((table_.flags[at(node)] & NodeTable::kKeep) != 0) set_output(node);
  return all_are_nodes;
}

bool Collector::has_further(NodeId cell, const OfSignature& of) const {
  return !of.has_result_nodes && table_.variant(cell) == 0;
}

void Collector::make_nodes_of_results(NodeId result) {
  const NodeId cell{index_of(result) - graph_.signature(result).info->result};
  of_signature(cell).has_result_nodes = true;
  const auto id = static_cast<std::size_t>(index_of(graph_.signature_id(cell)));
  facts_[NodeTable::kVariants * id] = {};  // to be found anew
}

/// For all nodes and signatures of the graph.
void Collector::make_room() {
  table_.resize(graph_);
  number_.resize(static_cast<std::size_t>(graph_.size()), -1);
  const auto signatures = static_cast<std::size_t>(graph_.signatures().size());
  if (of_signature_.size() == signatures) return;
  of_signature_.resize(signatures);
  const std::size_t variants = NodeTable::kVariants * signatures;
  facts_.resize(variants);
  operand_bytes_.resize(variants);
  columns_.resize(variants);
  signature_number_.resize(variants, -1);
}

void Collector::find_of_signature(OfSignature& of, NodeId node) {
  const Signature& signature = graph_.signature(node);
  of.info = signature.info;
  of.kind = of.info->kind;
  of.results = of.info->results;
  of.reads_row = of.info->reads_row != nullptr;
  of.is_view = signature.view >= 0 || of.reads_row;
  of.takes_apart = of.info->takes_whole && of.kind == Kind::kCell;
  of.is_lookup = of.info->table_row != nullptr && graph_.parameter_of(graph_.inputs(node)[0]) != nullptr;
  of.has_result_nodes = of.kind != Kind::kCell || of.results == 1 ||
                        static_cast<std::size_t>(of.results) > plan::Facts::kMostFurther + 1 ||
                        graph_.type(node).dtype != DType::kFloat32;
  of.operands = static_cast<std::int32_t>(graph_.inputs(node).size());
  if (of.info->takes_any_number()) {
    of.operands = OfSignature::kAll;
    return;
  }
  const auto is_parameter = [&](std::int32_t i) {
    const auto operand = static_cast<std::size_t>(i);
    return is_shared_operand(graph_, node, operand) && graph_.inputs(graph_.inputs(node)[operand]).empty();
  };
  while (of.operands > 0 && is_parameter(of.operands - 1)) --of.operands;
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
  for (OfSignature& of : of_signature_) of.is_met = false;
  const bool asks_who_reads = work_.problem.lifetime == plan::Lifetime::kFinish && graph_.any_many();
  if (asks_who_reads) together_.start(graph_.size());
  for (std::int32_t i = last; i >= 0; --i) {
    const NodeId node{i};
    if (!marks_.has(node)) continue;
    OfSignature& of = of_signature(node);
    // The results of a cell are computed together; they follow it, and one of them marks it.
    for (std::int32_t k = 1; k < of.results; ++k) {
      marks_.put(NodeId{i + k});
      last = std::max(last, i + k);
    }
    // All nodes of a signature have the same parameters.
    const std::span<const NodeId> inputs = graph_.inputs(node);
    for (NodeId input : of.is_met ? of.in_plan(inputs) : inputs) marks_.put(input);
    of.is_met = true;
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
void Collector::take_reached(const Wishes& wishes) {
  marks_.start(graph_.size());
  pending_.resize(static_cast<std::size_t>(graph_.size()));
  std::size_t count = 0;
  for (std::int32_t i = 0; i < graph_.size(); ++i) {
    const NodeId node{i};
    if (!wishes.is_reached(node)) continue;
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
  if (work_.problem.lifetime == plan::Lifetime::kFinish && graph_.any_many()) {  // who reads them is not known
    together_.start(graph_.size());
    for (NodeId node : pending_) together_.put(node);
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
    while (of_signature(node).is_view) node = graph_.inputs(node)[0];
    return of_signature(node).is_lookup;
  });
}

/// Says what is pending in integers. Of a large graph this is done for every node of every minibatch: lists are made
/// long enough before, and cut afterwards; what they held before is overwritten, so that little is set to zeros.
bool Collector::add_pending(bool reads_tables) {
  plan::Problem& problem = work_.problem;
  work_.nodes.resize(pending_.size());
  problem.signature.resize(pending_.size());
  problem.input_begin.resize(pending_.size() + 1);
  problem.input_begin[0] = 0;
  const std::size_t room = std::max(problem.inputs.size(), 2 * pending_.size());
  problem.inputs.resize(room);
  problem.is_part.resize(room);
  const bool merges = graph_.options().memoise != Memoise::kOff;
  // By pointers: for all a compiler knows, a byte that is written could be a part of any vector.
  NodeId* const nodes = work_.nodes.data();
  std::int32_t* const signature = problem.signature.data();
  std::int32_t* const input_begin = problem.input_begin.data();
  std::int32_t* next_input = problem.inputs.data();
  const std::int32_t* end_of_inputs = next_input + problem.inputs.size();
  std::uint8_t* next_part = problem.is_part.data();
  const auto make_room = [&](std::size_t more) {
    const auto used = static_cast<std::size_t>(next_input - problem.inputs.data());
    problem.inputs.resize(2 * (used + more));
    problem.is_part.resize(problem.inputs.size());
    next_input = problem.inputs.data() + used;
    end_of_inputs = problem.inputs.data() + problem.inputs.size();
    next_part = problem.is_part.data() + used;
  };
  const NodeId* const same = table_.same.data();
  NodeId* const roots = table_.root.data();
  std::int32_t* const number = number_.data();
  std::int32_t count = 0;
  std::int32_t cell_with_further = -1;  // the newest: its results follow it
  bool all_fit = true;
  for (NodeId node : pending_) {
    const OfSignature& of = of_signature(node);
    if (of.kind == Kind::kLeaf) {
      work_.leaves.push_back(node);
      continue;
    }
    if (merges && (same[at(node)] != node || merge(node, *of.info))) {
      if (of.kind != Kind::kResult) ++work_.merged;
      work_.aliases.push_back(node);
      continue;
    }
    if (reads_tables && of.is_lookup && !(graph_.is_many(node) && together_.has(node))) {
      ++work_.views;
      work_.in_table.push_back(node);
      continue;
    }
    const std::span<const NodeId> inputs = graph_.inputs(node);
    if (of.is_view && !table_.is_apart(node, of.info->takes_whole) && !(of.reads_row && outlives_its_rows(node))) {
      ++work_.views;
      work_.aliases.push_back(node);
      roots[at(node)] = roots[at(same[at(inputs[0])])];
      continue;
    }
    if (of.kind == Kind::kResult) {
      if (index_of(node) - of.info->result == cell_with_further) {
        number[at(node)] = (count - 1) | kFurther;
        work_.further.push_back(node);
        continue;
      }
      ++work_.results;
    } else if (has_further(node, of)) {
      cell_with_further = index_of(node);
    }
    number[at(node)] = count;
    nodes[count] = node;
    signature[count] = signature_number(node);
    const std::span<const NodeId> in_plan = of.in_plan(inputs);
    if (static_cast<std::size_t>(end_of_inputs - next_input) < in_plan.size()) [[unlikely]]
      make_room(in_plan.size());
    std::uint32_t further = 0;  // operands that are further results, a bit each
    std::uint32_t bit = 1;
    for (NodeId input : in_plan) {
      const NodeId source = same[at(input)];
      const NodeId root = roots[at(source)];
      const std::int32_t of_root = number[at(root)];
      const bool is_further = of_root >= kFurther;
      *next_input++ = is_further ? of_root - kFurther : of_root;
      *next_part++ = static_cast<std::uint8_t>((root != source ? plan::Problem::kPart : 0) |
                                               (is_further ? plan::Problem::kFurther : 0));
      further |= is_further ? bit : 0;
      bit = bit << 1 != 0 ? bit << 1 : bit;
    }
    if (further != 0) all_fit &= are_free(further, node, in_plan);
    input_begin[++count] = static_cast<std::int32_t>(next_input - problem.inputs.data());
  }
  const auto next = static_cast<std::size_t>(next_input - problem.inputs.data());
  work_.nodes.resize(at(count));
  problem.signature.resize(at(count));
  problem.input_begin.resize(at(count) + 1);
  problem.inputs.resize(next);
  problem.is_part.resize(next);
  return all_fit;
}

/// Whether none of these operands of a node, further results of cells, is to lie at a place that the node gives it. If
/// one is, further results of its cell are nodes from here on.
bool Collector::are_free(std::uint32_t further, NodeId node, std::span<const NodeId> operands) {
  const auto id = static_cast<std::size_t>(index_of(graph_.signature_id(node)));
  const plan::Facts& facts = facts_[NodeTable::kVariants * id + table_.variant(node)];
  const std::uint32_t placed = facts.side_by_side ? further : further & facts.blocks;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const NodeId root = table_.root[at(table_.same[at(operands[i])])];
    if ((placed >> std::min<std::size_t>(i, 31) & 1U) != 0 && number_[at(root)] >= kFurther)
      make_nodes_of_results(root);
  }
  return placed == 0;
}

/// Whether one of many rows is asked for where all others may be forgotten.
bool Collector::outlives_its_rows(NodeId node) const {
  if (work_.problem.lifetime != plan::Lifetime::kFinish) return false;
  return (table_.flags[at(node)] & NodeTable::kKeep) != 0 || asked_.has(node);
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

void Collector::number_signature(std::size_t signature, NodeId node) {
  signature_number_[signature] = static_cast<std::int32_t>(signatures_.size());
  signatures_.push_back(signature);
  if (facts_[signature].row_bytes == 0) find_facts(signature, node);
}

/// The operands of products with shared weights, which are to lie side by side.
void Collector::find_blocks(std::size_t signature, NodeId node, plan::Facts& facts) {
  const OpInfo& info = *graph_.signature(node).info;
  const std::span<const NodeId> inputs = graph_.inputs(node);
  for (std::size_t i = 0; i < inputs.size(); ++i) facts.defers |= is_shared_operand(graph_, node, i);
  facts.is_product = facts.defers && info.kind == Kind::kProduct && !graph_.is_many(node);
  facts.gathers = info.gathers;
  if (!facts.is_product && info.kind != Kind::kCell) return;
  std::vector<std::int64_t>& bytes = operand_bytes_[signature];
  std::vector<plan::BlockColumn>& columns = columns_[signature];
  columns.assign(inputs.size(), {});
  std::map<std::int32_t, std::int32_t> first_of_block;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    bytes.push_back(graph_.type(inputs[i]).elements * static_cast<std::int64_t>(sizeof(float)));
    if (info.inputs[i].block < 0 || is_shared_operand(graph_, node, i) || graph_.is_many(node)) continue;
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
  if (has_further(node, of_signature(node)))
    for (std::int32_t k = 1; k < info.results; ++k) {
      const NodeId result{index_of(node) + k};
      facts.further_bytes[at(facts.further)] = graph_.bytes(result);
      facts.keeps_further |= graph_.signature(result).info->keep.output ? 1U << facts.further : 0;
      ++facts.further;
    }
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
      if (info.keeps_input(i)) facts.keeps_inputs |= 1U << std::min<std::size_t>(i, 31);
    if (type.dtype == DType::kFloat32) find_blocks(signature, node, facts);
  }
  if (type.dtype == DType::kFloat64) facts.keeps_inputs = ~0U;  // the plain code is differentiated at its inputs
  facts_[signature] = facts;
}

}  // namespace espalier::exec
