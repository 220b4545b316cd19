#include "espalier/exec/collect/memo.h"

#include <algorithm>
#include <cstring>

namespace espalier::exec {

void Memo::clear() {
  for (RowIndex& lookups : lookups_) lookups.clear();
  first_.clear();
  count_.clear();
  users_.clear();
  many_.clear();
}

std::int32_t& Memo::entry_of_lookup(NodeId node) {
  const auto signature = static_cast<std::size_t>(index_of(graph_.signature_id(node)));
  if (signature >= lookups_.size()) lookups_.resize(signature + 1);
  return lookups_[signature][graph_.signature(node).info->table_row(graph_.fields(node))];
}

std::int32_t& Memo::entry_of(NodeId node) {
  const std::span<const NodeId> inputs = graph_.inputs(node);
  if (inputs.empty()) return many_.try_emplace({hash_of(node), node}, -1).first->second;
  if (graph_.signature(node).info->table_row != nullptr && graph_.shared(inputs[0])) return entry_of_lookup(node);
  NodeId newest = table_.same[at(inputs[0])];
  for (NodeId input : inputs.subspan(1)) newest = std::max(newest, table_.same[at(input)]);
  if (at(newest) >= first_.size()) {
    first_.resize(static_cast<std::size_t>(graph_.size()), -1);
    count_.resize(first_.size(), 0);
  }
  for (std::int32_t user = first_[at(newest)]; user >= 0; user = users_[static_cast<std::size_t>(user)].next) {
    User& found = users_[static_cast<std::size_t>(user)];
    if (equal(NodeId{found.node}, node)) return found.node;
  }
  if (count_[at(newest)] == kMostInChain) return many_.try_emplace({hash_of(node), node}, -1).first->second;
  ++count_[at(newest)];
  users_.push_back({.node = -1, .next = first_[at(newest)]});
  first_[at(newest)] = static_cast<std::int32_t>(users_.size()) - 1;
  return users_.back().node;
}

bool Memo::equal(NodeId a, NodeId b) const {
  if (graph_.signature_id(a) != graph_.signature_id(b)) return false;
  const std::span<const NodeId> of_a = graph_.inputs(a);
  const std::span<const NodeId> of_b = graph_.inputs(b);
  if (of_a.size() != of_b.size()) return false;
  if (of_a.empty())
    return graph_.has_rows_like(a, b) &&
           std::memcmp(data_of(a), data_of(b), static_cast<std::size_t>(graph_.bytes(a))) == 0;
  for (std::size_t i = 0; i < of_a.size(); ++i)
    if (table_.same[at(of_a[i])] != table_.same[at(of_b[i])]) return false;
  const auto size = static_cast<std::size_t>(graph_.signature(a).info->field_bytes);
  return size == 0 || std::memcmp(graph_.fields(a), graph_.fields(b), size) == 0;
}

const std::byte* Memo::data_of(NodeId leaf) const {
  InputFields fields;
  std::memcpy(&fields, graph_.fields(leaf), sizeof(fields));
  return static_cast<const std::byte*>(fields.data);
}

std::uint64_t Memo::hash_of(NodeId node) const {
  SignatureTable::Hash hash;
  hash.add(static_cast<std::uint32_t>(index_of(graph_.signature_id(node))));
  for (NodeId input : graph_.inputs(node)) hash.add(static_cast<std::uint32_t>(index_of(table_.same[at(input)])));
  const bool is_leaf = graph_.inputs(node).empty();
  const auto* bytes = is_leaf ? data_of(node) : static_cast<const std::byte*>(graph_.fields(node));
  const std::int64_t size = is_leaf ? graph_.bytes(node) : graph_.signature(node).info->field_bytes;
  for (std::int64_t i = 0; i + 4 <= size; i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes + i, sizeof(word));
    hash.add(word);
  }
  return hash.value();
}

}  // namespace espalier::exec
