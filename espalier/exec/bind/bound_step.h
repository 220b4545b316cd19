/// Room exec/bind: where the rows of a step are.
///
/// In: a run (a plan with its memory) and the table of addresses. Out: the nodes of a step as its op's kernels want
/// them: operand rows, evenly spaced or as a list of offsets, fields side by side, which rows are zeros or equal. It
/// knows addresses, and nothing of who computes or of gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

/// The memory of a plan. Where two of its rows lie to each other is the same in every run of a program; where others
/// lie, leaves above all, is not.
struct PlannedMemory {
  const std::byte* begin = nullptr;
  std::int64_t bytes = 0;

  bool holds(const void* address) const {
    const auto distance = reinterpret_cast<std::intptr_t>(address) - reinterpret_cast<std::intptr_t>(begin);
    return distance >= 0 && distance < bytes;
  }
};

/// Rows at these addresses: evenly spaced if they are so in `memory`, else as offsets from the first, so that nothing
/// that is computed depends on where memory happens to be. Differences are taken of the addresses as numbers, since the
/// memory need not be one array.
template <class T, class AddressOf>
BasicRows<T> rows_at(std::int64_t count, std::int64_t width, const PlannedMemory& memory, const AddressOf& address_of,
                     std::vector<std::int64_t>& offsets) {
  T* const first = address_of(std::int64_t{0});
  const bool is_planned = memory.holds(first) && (count == 1 || memory.holds(address_of(count - 1)));
  if (count == 1 && is_planned) return {first, 1, width, width, nullptr};
  const auto distance = [&](std::int64_t r) {
    return (reinterpret_cast<std::intptr_t>(address_of(r)) - reinterpret_cast<std::intptr_t>(first)) /
           static_cast<std::intptr_t>(sizeof(T));
  };
  if (is_planned) {
    const std::int64_t stride = distance(1);
    std::int64_t even = stride >= width && stride > 0 ? 2 : 0;
    while (even > 0 && even < count && distance(even) == even * stride) ++even;
    if (even == count) return {first, count, width, stride, nullptr};
  }
  offsets.resize(static_cast<std::size_t>(count));
  for (std::int64_t r = 0; r < count; ++r) offsets[static_cast<std::size_t>(r)] = distance(r);
  return {first, count, width, width, offsets.data()};
}

/// The same for `nodes` nodes of many rows, which lie one behind the other: those of node j are rows_of(j), from
/// address_of(j) on.
template <class T, class RowsOf, class AddressOf>
BasicRows<T> many_rows_at(std::size_t nodes, std::int64_t width, const PlannedMemory& memory, const RowsOf& rows_of,
                          const AddressOf& address_of, std::vector<std::int64_t>& offsets) {
  T* const first = address_of(std::size_t{0});
  const auto distance = [&](std::size_t j) {
    return (reinterpret_cast<std::intptr_t>(address_of(j)) - reinterpret_cast<std::intptr_t>(first)) /
           static_cast<std::intptr_t>(sizeof(T));
  };
  bool is_even = width > 0 && memory.holds(first) && memory.holds(address_of(nodes - 1));
  std::int64_t count = 0;
  for (std::size_t j = 0; j < nodes; ++j) {
    is_even = is_even && distance(j) == count * width;
    count += rows_of(j);
  }
  if (is_even) return {first, count, width, width, nullptr};
  offsets.resize(static_cast<std::size_t>(count));
  std::int64_t* to = offsets.data();
  for (std::size_t j = 0; j < nodes; ++j)
    for (std::int64_t k = 0; k < rows_of(j); ++k) *to++ = distance(j) + k * width;
  return {first, count, width, width, offsets.data()};
}

/// Reused from step to step, so that its vectors are allocated once.
class BoundStep {
 public:
  BoundStep(const Graph& graph, const NodeTable& table) : graph_(graph), table_(table) {}

  /// The views below are of these nodes of one signature from here on. `numbers` are their row numbers in step `step`
  /// of the run; empty if they are all of its rows.
  void open(const Run& run, std::int32_t step, std::span<const NodeId> nodes,
            std::span<const std::int32_t> numbers = {});

  std::span<const NodeId> nodes() const { return nodes_; }
  const StepIn& in() const { return in_; }
  /// The results, and what forward leaves for backward.
  Rows y() const { return y_; }
  Rows saved() const { return saved_; }
  /// Of a cell: all results.
  std::span<const Rows> results() const { return results_; }
  /// Operands of node j, as nodes: what is computed in their place.
  NodeId operand(std::int64_t j, std::size_t i) const {
    return table_.same[at(graph_.inputs(nodes_[static_cast<std::size_t>(j)])[i])];
  }
  /// Whether its nodes, or what they read, have many rows: a node is then not a row.
  bool is_many() const { return is_many_; }
  /// How many rows of operand i node j reads.
  std::int64_t rows_read(std::size_t j, std::size_t i) const {
    return takes_whole_ ? graph_.rows(graph_.inputs(nodes_[j])[i]) : graph_.rows(nodes_[j]);
  }
  /// Which row of its operand node j reads, of an op that reads one of many; else 0, the first.
  std::int64_t row_read(std::size_t j) const {
    return reads_row_ == nullptr ? 0 : reads_row_(graph_.fields(nodes_[j]));
  }
  bool reads_one_of_many() const { return reads_row_ != nullptr; }
  bool is_shared(std::size_t i) const { return (shared_ >> i & 1U) != 0; }
  bool any_shared() const { return shared_ != 0; }
  /// The block of operand i, or null.
  const plan::Block* block(std::size_t i) const { return blocks_.empty() ? nullptr : blocks_[i]; }
  std::int64_t memory() const;
  /// Of a step with this many rows and operands of all rows, at most.
  static std::int64_t most_memory(const OpInfo& info, std::int64_t rows, std::int64_t operands);
  /// The number of row r in its step.
  std::int64_t number(std::int64_t r) const { return numbers_.empty() ? r : numbers_[static_cast<std::size_t>(r)]; }

 private:
  void open_nodes(const OpInfo& info);
  /// The rows of result k.
  Rows result_rows(std::int64_t width, std::int32_t k, std::vector<std::int64_t>& to) const;
  /// The rows of operand i, wherever they lie.
  ConstRows operand_rows(std::size_t i, std::int64_t width);
  /// The same where some nodes look up many rows that are read where their table is.
  ConstRows rows_in_tables(std::size_t i, std::int64_t width);
  std::vector<std::int64_t>& offsets(std::size_t i) {
    while (offsets_.size() <= i) offsets_.emplace_back();
    return offsets_[i];
  }
  float* address(NodeId node) const { return reinterpret_cast<float*>(table_.address[at(node)]); }
  void open_operands(const Run& run, std::int32_t step);
  /// Whether operand i of all nodes are the zeros that constants share.
  bool reads_zeros(std::size_t i) const;
  void open_ragged();
  void open_fields();
  void open_results(const OpInfo& info);

  const Graph& graph_;
  const NodeTable& table_;
  PlannedMemory memory_;
  std::span<const NodeId> nodes_;
  std::span<const std::int32_t> numbers_;
  bool is_many_ = false;
  bool takes_whole_ = false;
  std::int32_t (*reads_row_)(const void* fields) = nullptr;
  std::vector<std::int64_t> node_begin_;
  std::vector<std::int64_t> operand_begin_;
  std::vector<std::int32_t> first_equal_;
  std::uint64_t shared_ = 0;
  StepIn in_;
  Rows y_;
  Rows saved_;
  std::vector<const plan::Block*> blocks_;
  std::vector<ConstRows> rows_;
  std::vector<Shape> shapes_;
  std::vector<const Parameter*> parameters_;
  std::vector<Rows> results_;
  std::vector<std::vector<std::int64_t>> offsets_;
  std::vector<std::vector<std::int64_t>> result_offsets_;
  std::vector<std::int64_t> y_offsets_;
  std::vector<std::int64_t> saved_offsets_;
  std::vector<NodeId> ragged_nodes_;
  std::vector<std::int64_t> ragged_;
  std::vector<std::byte> fields_;
};

/// Rows begin to end - 1 of a step, for splitting it.
StepIn part_of(const StepIn& in, std::int64_t begin, std::int64_t end, std::vector<ConstRows>& rows);

/// How many rows of a step a thread should have at least.
std::int64_t row_grain(const StepIn& in, std::int64_t width);

}  // namespace espalier::exec
