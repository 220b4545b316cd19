/// How a run is said in integers: nodes and inputs by their numbers, and what a plan needs to know of a signature.
#include <algorithm>
#include <map>

#include "espalier/base/at.h"
#include "espalier/exec/collect/collector.h"

namespace espalier::exec {
namespace {

/// Writes the inputs of one node after the other into a problem.
class InputWriter {
 public:
  InputWriter(plan::Problem& problem, std::size_t inputs) : problem_(problem) {
    resize(std::max(problem.inputs.size(), inputs), 0);
  }
  /// For so many more.
  void reserve(std::size_t more) {
    if (static_cast<std::size_t>(end_ - next_) < more) [[unlikely]]
      resize(2 * (static_cast<std::size_t>(count()) + more), static_cast<std::size_t>(count()));
  }
  void add(std::int32_t input, int how) {
    *next_++ = input;
    *next_how_++ = static_cast<std::uint8_t>(how);
  }
  std::int32_t count() const { return static_cast<std::int32_t>(next_ - begin_); }
  void finish() {
    const auto used = static_cast<std::size_t>(count());
    resize(used, used);
  }

 private:
  void resize(std::size_t size, std::size_t used) {
    problem_.inputs.resize(size);
    problem_.is_part.resize(size);
    begin_ = problem_.inputs.data();
    next_ = begin_ + used;
    end_ = begin_ + size;
    next_how_ = problem_.is_part.data() + used;
  }

  plan::Problem& problem_;
  std::int32_t* begin_ = nullptr;
  std::int32_t* next_ = nullptr;
  const std::int32_t* end_ = nullptr;
  std::uint8_t* next_how_ = nullptr;
};

}  // namespace

/// Says what is pending in integers. Of a large graph this is done for every node of every minibatch: lists are made
/// long enough before, and cut afterwards; what they held before is overwritten, so that little is set to zeros.
void Collector::add_pending(bool reads_tables) {
  plan::Problem& problem = work_.problem;
  work_.nodes.resize(pending_.size());
  problem.signature.resize(pending_.size());
  problem.input_begin.resize(pending_.size() + 1);
  problem.input_begin[0] = 0;
  InputWriter inputs(problem, 2 * pending_.size());
  // By pointers: for all a compiler knows, a byte that is written could be a part of any vector.
  NodeId* const nodes = work_.nodes.data();
  std::int32_t* const signature = problem.signature.data();
  std::int32_t* const input_begin = problem.input_begin.data();
  const NodeId* const same = table_.same.data();
  const NodeId* const roots = table_.root.data();
  std::int32_t* const number = number_.data();
  std::int32_t count = 0;
  for (NodeId node : pending_) {
    const SignatureFacts& of = known_.of(node);
    if (needs_no_row(node, of, reads_tables)) continue;
    if (of.kind == Kind::kResult) {
      number[at(node)] = number[index_of(node) - of.info->result] | kFurther;
      work_.further.push_back(node);
      continue;
    }
    number[at(node)] = count;
    nodes[count] = node;
    signature[count] = signature_number(node);
    const std::span<const NodeId> in_plan = of.in_plan(graph_.inputs(node));
    inputs.reserve(in_plan.size());
    for (NodeId input : in_plan) {
      const NodeId source = same[at(input)];
      const NodeId root = roots[at(source)];
      const std::int32_t of_root = number[at(root)];
      const bool is_further = of_root >= kFurther;
      inputs.add(is_further ? of_root - kFurther : of_root,
                 (root != source ? plan::Problem::kPart : 0) | (is_further ? plan::Problem::kFurther : 0));
    }
    input_begin[++count] = inputs.count();
  }
  inputs.finish();
  work_.nodes.resize(at(count));
  problem.signature.resize(at(count));
  problem.input_begin.resize(at(count) + 1);
}

/// Leaves, and nodes whose rows lie elsewhere, are noted and are no nodes of the problem.
inline bool Collector::needs_no_row(NodeId node, const SignatureFacts& of, bool reads_tables) {
  const Memoise memoise = graph_.options().memoise;
  if (of.kind == Kind::kLeaf) {
    work_.leaves.push_back(node);
    if (memoise == Memoise::kAll && table_.same[at(node)] == node) merge_leaf(node);
    return true;
  }
  if (memoise != Memoise::kOff && (table_.same[at(node)] != node || merge(node, *of.info))) {
    if (of.kind != Kind::kResult) ++work_.merged;
  } else if (reads_tables && of.is_lookup && !(graph_.is_many(node) && together_.has(node))) {
    ++work_.views;
  } else if (of.is_view && !table_.is_apart(node, of.info->takes_whole) && !(of.reads_row && outlives_its_rows(node))) {
    ++work_.views;
    table_.root[at(node)] = table_.root[at(table_.same[at(graph_.inputs(node)[0])])];
  } else {
    return false;
  }
  work_.elsewhere.push_back(node);
  return true;
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

/// A leaf keeps its own numbers; those who read it read those of the first equal one.
void Collector::merge_leaf(NodeId leaf) {
  if (graph_.shared(leaf) || table_.is_apart(leaf)) return;
  table_.same[at(leaf)] =
      memo_.find_or_add(leaf, [&](NodeId other) { return marks_.has(other) ? other < leaf : table_.has_value(other); });
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
    facts.blocks |= std::uint64_t{1} << i;
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
  facts.saves_for_backward_only = info.kind == Kind::kCell;
  facts.side_by_side = lies_side_by_side(graph_, table_, node);
  for (std::int32_t k = 1; k < info.results; ++k) {
    const NodeId result{index_of(node) + k};
    const Type& of_result = graph_.type(result);
    facts.further_bytes += of_result.elements * static_cast<std::int64_t>(size_of(of_result.dtype));
    facts.keeps_further |= graph_.signature(result).info->keep.output;
  }
  std::vector<std::int64_t>& bytes = operand_bytes_[signature];
  bytes.clear();
  const std::span<const NodeId> inputs = graph_.inputs(node);
  if (info.takes_any_number()) {
    if (info.is_ragged() && info.keeps(0)) facts.keeps_inputs = ~std::uint64_t{0};
    for (std::size_t i = 0; i < inputs.size() && !info.is_ragged(); ++i)
      if (info.keeps(i)) facts.keeps_inputs |= std::uint64_t{1} << std::min(i, plan::Facts::kLastBit);
    if (facts.side_by_side)
      for (NodeId input : inputs)
        bytes.push_back(graph_.type(input).elements * static_cast<std::int64_t>(size_of(type.dtype)));
  } else {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (info.keeps_input(i)) facts.keeps_inputs |= std::uint64_t{1} << std::min(i, plan::Facts::kLastBit);
    if (type.dtype == DType::kFloat32) find_blocks(signature, node, facts);
  }
  if (type.dtype == DType::kFloat64)
    facts.keeps_inputs = ~std::uint64_t{0};  // the plain code is differentiated at its inputs
  facts_[signature] = facts;
}

}  // namespace espalier::exec
