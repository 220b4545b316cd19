#include "espalier/exec/bind/row_source.h"

#include "espalier/exec/parameter_versions.h"

namespace espalier::exec {
namespace {

RowSource leaf_source(const Graph& graph, NodeId leaf) {
  const std::byte* const data = leaf_value(graph, leaf);
  const bool is_zeros = !graph.shared(leaf) && Zeros::are_at(data);
  // Nothing writes to a leaf.
  return {is_zeros ? RowSource::Kind::kZeros : RowSource::Kind::kLeaf, leaf, const_cast<std::byte*>(data)};
}

RowSource table_source(const Graph& graph, const NodeTable& table, NodeId lookup) {
  const NodeId from = graph.inputs(lookup)[0];
  std::byte* const first = table.address[at(from)];
  if (graph.is_many(lookup)) return {RowSource::Kind::kTableRows, from, first};
  const std::int64_t row = graph.signature(lookup).info->table_row(graph.fields(lookup));
  return {RowSource::Kind::kTableRow, from, first + row * graph.bytes(lookup)};
}

}  // namespace

RowSource row_source(const Graph& graph, const NodeTable& table, NodeId node) {
  if (graph.inputs(node).empty()) return leaf_source(graph, node);
  const NodeId same = table.same[at(node)];
  if (same != node) return {RowSource::Kind::kMerged, same, table.address[at(same)]};
  const Signature& signature = graph.signature(node);
  if (signature.info->table_row != nullptr) return table_source(graph, table, node);
  const NodeId from = table.same[at(graph.inputs(node)[0])];
  const std::int64_t offset = signature.info->reads_row != nullptr
                                  ? signature.info->reads_row(graph.fields(node)) * graph.bytes(node)
                                  : signature.view * static_cast<std::int64_t>(size_of(graph.type(node).dtype));
  return {RowSource::Kind::kPart, from, table.address[at(from)] + offset};
}

void set_value(NodeTable& table, NodeId node, const RowSource& source) {
  table.set_value(node, source.address);
  if (source.kind == RowSource::Kind::kTableRows) table.flags[at(node)] |= NodeTable::kInTable;
  if (source.kind == RowSource::Kind::kZeros) table.flags[at(node)] |= NodeTable::kZeros;
}

}  // namespace espalier::exec
