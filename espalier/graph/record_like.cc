// Nodes that are recorded like others, of which all is known: uses of cells and recursions, leaves.
#include <array>

#include "espalier/graph/graph.h"
#include "espalier/graph/shared_names.h"

namespace espalier {

const KnownCell* Recorder::known_use(std::uint64_t cell, std::span<const Expr> inputs,
                                     std::span<NodeId, KnownCell::kMostInputs> nodes) {
  if (inputs.empty() || inputs.size() > nodes.size()) return nullptr;
  std::array<TypeId, KnownCell::kMostInputs>
      types;  // NOLINT(cppcoreguidelines-pro-type-member-init): as many as inputs
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!owns(inputs[i])) return nullptr;
    nodes[i] = inputs[i].node();
    const Head head = head_[at(nodes[i])];
    if (head.shared != 0 || head.rows != head_[at(nodes[0])].rows) return nullptr;
    types[i] = head.type;
  }
  const KnownCell* const known = known_cells_.find(cell, {types.data(), inputs.size()});
  return known != nullptr && known->epoch == epoch_ ? known : nullptr;
}

/// Puts the operands of the next node in place, these and the shared ones of the sample, and joins their instances.
/// Gives how many they are.
[[gnu::always_inline]] inline std::size_t Recorder::put_operands_like(NodeId sample, std::span<const NodeId> stacked,
                                                                      InstanceId& instance) {
  const std::size_t like = at(sample);
  const std::size_t operands = begin_[like + 1].inputs - begin_[like].inputs;
  NodeId* const nodes = room_for_inputs(operands);  // before the look at those of the sample, which may move
  const NodeId* const of_sample = inputs_.data() + begin_[like].inputs;
  for (std::size_t i = 0; i < stacked.size(); ++i) {
    nodes[i] = stacked[i];
    join(instance, head_[at(stacked[i])].instance);
  }
  for (std::size_t i = stacked.size(); i < operands; ++i) nodes[i] = of_sample[i];
  return operands;
}

NodeId Recorder::record_like(NodeId sample, std::int32_t results, std::span<const NodeId> stacked, SourceLine where) {
  if (size_ == room_) [[unlikely]]
    make_room();
  const std::size_t like = at(sample);
  InstanceId instance = kNoInstance;
  const std::size_t operands = put_operands_like(sample, stacked, instance);
  const NodeId cell = write_node(
      signature_[like],
      {head_[like].type, instance == kNoInstance ? current_instance_ : instance, head_[at(stacked[0])].rows, 0}, 0,
      operands, where);
  append_results_like(sample, cell, results, where);
  return cell;
}

/// The further results of a cell, each a node of which it is the input.
[[gnu::always_inline]] inline void Recorder::append_results_like(NodeId sample, NodeId cell, std::int32_t results,
                                                                 SourceLine where) {
  for (std::int32_t k = 1; k < results; ++k) {
    if (size_ == room_) [[unlikely]]
      make_room();
    *room_for_inputs(1) = cell;
    const std::size_t like = at(sample) + static_cast<std::size_t>(k);
    write_node(signature_[like], {head_[like].type, head_[at(cell)].instance, head_[at(cell)].rows, 0}, 0, 1, where);
  }
}

NodeId Recorder::record_rows_like(NodeId sample, const void* fields, std::int32_t rows, std::int32_t results,
                                  NodeId stacked, SourceLine where) {
  InstanceId instance = kNoInstance;
  const std::size_t operands = put_operands_like(sample, {&stacked, 1}, instance);
  const NodeId node = append_known(signature_id(sample), operands, fields, instance, where, rows, rows);
  any_many_ = true;
  append_results_like(sample, node, results, where);
  return node;
}

std::int32_t Recorder::record_rows_again(std::span<const SignatureId> results,
                                         std::span<const Parameter* const> parameters, const void* fields,
                                         std::int32_t rows, NodeId stacked, SourceLine where) {
  const auto attr_words = static_cast<std::size_t>(signatures_[results[0]].info->attr_words);
  const std::span<const std::uint32_t> words = signatures_.key(results[0]).subspan(1 + attr_words);
  const std::size_t operands = 1 + parameters.size();
  NodeId* const nodes = room_for_inputs(operands);  // parameters have no inputs: it stays where it is
  nodes[0] = stacked;
  if (words.size() != operands || words[0] != static_cast<std::uint32_t>(index_of(head_[at(stacked)].type))) return -1;
  for (std::size_t i = 1; i < operands; ++i) {
    nodes[i] = record_parameter(*parameters[i - 1]).node();
    if (words[i] != (kSharedInput | head_[at(nodes[i])].shared)) return -1;
  }
  const InstanceId instance = head_[at(stacked)].instance;
  const NodeId node = append_known(results[0], operands, fields, instance, where, rows, rows);
  any_many_ = true;
  for (const SignatureId signature : results.subspan(1)) {
    *room_for_inputs(1) = node;
    append_known(signature, 1, nullptr, head_[at(node)].instance, where, rows, kSingle);
  }
  return index_of(node);
}

NodeId Recorder::record_like(NodeId sample, const void* fields, std::span<const NodeId> stacked, SourceLine where) {
  InstanceId instance = kNoInstance;
  const std::size_t operands = put_operands_like(sample, stacked, instance);
  const std::int32_t rows = stacked.empty() ? kSingle : head_[at(stacked[0])].rows;
  return append_known(signature_id(sample), operands, fields, instance, where, rows, rows);
}

}  // namespace espalier
