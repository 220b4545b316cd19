#include "espalier/exec/bind/bound_step.h"

#include <algorithm>
#include <cstring>

#include "espalier/exec/bind/equal_rows.h"
#include "espalier/ops/product_rows.h"

namespace espalier::exec {

void BoundStep::open(const Run& run, std::int32_t step, std::span<const NodeId> nodes,
                     std::span<const std::int32_t> numbers) {
  memory_ = {run.values, run.plan->values.bytes};
  nodes_ = nodes;
  numbers_ = numbers;
  const Signature& signature = graph_.signature(nodes[0]);
  const Type& type = graph_.type(nodes[0]);
  in_ = StepIn();
  in_.rows = static_cast<std::int64_t>(nodes.size());
  open_nodes(*signature.info);
  const std::int64_t count = in_.rows;
  in_.out = &type.shape;
  in_.fields_stride = signature.info->field_bytes;
  in_.use = {.rows_to_come = run.plan->signature_rows[static_cast<std::size_t>(step)], .training = run.training};
  rows_.clear();
  shapes_.clear();
  parameters_.clear();
  shared_ = 0;
  if (signature.info->is_ragged())
    open_ragged();
  else
    open_operands(run, step);
  open_fields();
  in_.inputs = rows_;
  in_.shapes = shapes_;
  in_.parameters = parameters_;

  y_ = result_rows(type.elements, 0, y_offsets_);
  results_.clear();
  if (signature.info->kind == Kind::kCell) open_results(*signature.info);
  saved_ = {};
  if (signature.saved > 0 && run.plan->saved_at[static_cast<std::size_t>(step)] >= 0) {
    auto* saved = reinterpret_cast<float*>(run.values + run.plan->saved_at[static_cast<std::size_t>(step)]);
    saved_ = rows_at<float>(
        count, signature.saved, memory_, [&](std::int64_t r) { return saved + number(r) * signature.saved; },
        saved_offsets_);
  }
}

void BoundStep::open_results(const OpInfo& info) {
  results_.push_back(y_);
  for (std::int32_t k = 1; k < info.results; ++k) {
    while (result_offsets_.size() < static_cast<std::size_t>(k)) result_offsets_.emplace_back();
    const std::int64_t width = graph_.type(NodeId{index_of(nodes_[0]) + k}).elements;
    results_.push_back(result_rows(width, k, result_offsets_[static_cast<std::size_t>(k) - 1]));
  }
}

void BoundStep::open_nodes(const OpInfo& info) {
  reads_row_ = info.reads_row;
  takes_whole_ = info.takes_whole && reads_row_ == nullptr;
  is_many_ = takes_whole_ || graph_.is_many(nodes_[0]);
  if (!is_many_) return;
  node_begin_.assign(1, 0);
  for (NodeId node : nodes_) node_begin_.push_back(node_begin_.back() + graph_.rows(node));
  in_.rows = node_begin_.back();
  if (!takes_whole_) return;
  operand_begin_.assign(1, 0);
  for (NodeId node : nodes_) operand_begin_.push_back(operand_begin_.back() + graph_.rows(graph_.inputs(node)[0]));
  in_.nodes = static_cast<std::int64_t>(nodes_.size());
  in_.node_begin = node_begin_.data();
  in_.operand_begin = operand_begin_.data();
  if (info.kind == Kind::kCell && find_equal_rows(graph_, table_, nodes_, first_equal_))
    in_.first_equal = first_equal_.data();
}

Rows BoundStep::result_rows(std::int64_t width, std::int32_t k, std::vector<std::int64_t>& to) const {
  const auto address_of = [&](std::size_t j) { return address(NodeId{index_of(nodes_[j]) + k}); };
  if (is_many_)
    return many_rows_at<float>(
        nodes_.size(), width, memory_, [&](std::size_t j) { return graph_.rows(nodes_[j]); }, address_of, to);
  return rows_at<float>(
      in_.rows, width, memory_, [&](std::int64_t r) { return address_of(static_cast<std::size_t>(r)); }, to);
}

ConstRows BoundStep::operand_rows(std::size_t i, std::int64_t width) {
  const auto is_in_table = [&](NodeId node) { return table_.is_in_table(graph_.inputs(node)[i]); };
  if (takes_whole_ && std::any_of(nodes_.begin(), nodes_.end(), is_in_table)) return rows_in_tables(i, width);
  if (is_many_)
    return many_rows_at<const float>(
        nodes_.size(), width, memory_, [&](std::size_t j) { return rows_read(j, i); },
        [&](std::size_t j) { return address(graph_.inputs(nodes_[j])[i]); }, offsets(i));
  const auto first_of = [&](std::size_t j) { return address(graph_.inputs(nodes_[j])[i]); };
  if (reads_row_ != nullptr)
    return rows_at<const float>(
        in_.rows, width, memory_,
        [&](std::int64_t r) {
          const auto j = static_cast<std::size_t>(r);
          return first_of(j) + row_read(j) * width;
        },
        offsets(i));
  return rows_at<const float>(
      in_.rows, width, memory_, [&](std::int64_t r) { return first_of(static_cast<std::size_t>(r)); }, offsets(i));
}

ConstRows BoundStep::rows_in_tables(std::size_t i, std::int64_t width) {
  const float* const first = address(graph_.inputs(nodes_[0])[i]);
  std::vector<std::int64_t>& to = offsets(i);
  to.clear();
  for (NodeId node : nodes_) {
    const NodeId operand = graph_.inputs(node)[i];
    const std::int64_t begin =
        (reinterpret_cast<std::intptr_t>(address(operand)) - reinterpret_cast<std::intptr_t>(first)) /
        static_cast<std::intptr_t>(sizeof(float));
    const auto table_row = table_.is_in_table(operand) ? graph_.signature(operand).info->table_row : nullptr;
    for (std::int64_t r = 0; r < graph_.rows(operand); ++r)
      to.push_back(begin + width * (table_row == nullptr ? r : table_row(graph_.fields(operand, r))));
  }
  return {first, std::ssize(to), width, width, to.data()};
}

bool BoundStep::reads_zeros(std::size_t i) const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [&](NodeId node) { return table_.is_zeros(table_.same[at(graph_.inputs(node)[i])]); });
}

void BoundStep::open_operands(const Run& run, std::int32_t step) {
  const std::span<const NodeId> first = graph_.inputs(nodes_[0]);
  const OpInfo& info = *graph_.signature(nodes_[0]).info;
  const std::int64_t count = in_.rows;
  const std::span<const plan::Block> blocks = run.plan->blocks_of(step);
  blocks_.clear();
  if (!blocks.empty()) {
    blocks_.resize(first.size(), nullptr);
    for (const plan::Block& block : blocks) blocks_[static_cast<std::size_t>(block.operand)] = &block;
  }
  const bool is_cell = info.kind == Kind::kCell;  // it knows its shapes
  parameters_.assign(first.size(), nullptr);
  rows_.resize(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Type& type = graph_.type(first[i]);
    if (is_cell && !info.takes_whole && reads_zeros(i)) in_.zero_inputs |= std::uint64_t{1} << i;
    if (!is_cell) shapes_.push_back(type.shape);
    if (info.by_identity(i) && graph_.shared(first[i])) {
      shared_ |= std::uint64_t{1} << i;
      parameters_[i] = graph_.parameter_of(first[i]);
      rows_[i] = {address(first[i]), count, type.elements, 0, nullptr};
    } else if (const plan::Block* there = block(i)) {
      const auto* data = reinterpret_cast<const float*>(
          run.values + run.plan->values.at[static_cast<std::size_t>(there->piece)] + there->before);
      const std::int64_t next = there->row_bytes / static_cast<std::int64_t>(sizeof(float));
      if (numbers_.empty())
        rows_[i] = {data, count, type.elements, next, nullptr};
      else
        rows_[i] = rows_at<const float>(
            count, type.elements, memory_, [&](std::int64_t r) { return data + number(r) * next; }, offsets(i));
    } else {
      rows_[i] = operand_rows(i, type.elements);
    }
  }
}

void BoundStep::open_ragged() {
  blocks_.clear();
  ragged_nodes_.clear();
  ragged_.assign(1, 0);
  std::int64_t rows = 0;
  for (NodeId node : nodes_) {
    for (NodeId input : graph_.inputs(node)) {
      ragged_nodes_.push_back(input);
      rows += graph_.rows(input);
    }
    ragged_.push_back(rows);
  }
  const Type& type = graph_.type(ragged_nodes_[0]);
  shapes_.push_back(type.shape);
  const auto address_of = [&](std::size_t j) { return address(ragged_nodes_[j]); };
  if (graph_.any_many())
    rows_.push_back(many_rows_at<const float>(
        ragged_nodes_.size(), type.elements, memory_, [&](std::size_t j) { return graph_.rows(ragged_nodes_[j]); },
        address_of, offsets(0)));
  else
    rows_.push_back(rows_at<const float>(
        rows, type.elements, memory_, [&](std::int64_t r) { return address_of(static_cast<std::size_t>(r)); },
        offsets(0)));
  in_.offsets = ragged_.data();
}

void BoundStep::open_fields() {
  const auto size = static_cast<std::size_t>(in_.fields_stride);
  if (size == 0) return;
  if (nodes_.size() == 1) {  // those of many rows lie one behind the other
    in_.fields_data = static_cast<const std::byte*>(graph_.fields(nodes_[0]));
    return;
  }
  fields_.resize(size * static_cast<std::size_t>(in_.rows));
  std::byte* to = fields_.data();
  for (NodeId node : nodes_) {
    const std::size_t bytes = size * static_cast<std::size_t>(graph_.rows(node));
    std::memcpy(to, graph_.fields(node), bytes);
    to += bytes;
  }
  in_.fields_data = fields_.data();
}

std::int64_t BoundStep::memory() const {
  std::int64_t bytes = memory_of(node_begin_, operand_begin_, first_equal_, blocks_, rows_, shapes_, parameters_) +
                       memory_of(results_, y_offsets_, saved_offsets_, ragged_nodes_, ragged_, fields_);
  for (const auto& each : offsets_) bytes += memory_of(each);
  for (const auto& each : result_offsets_) bytes += memory_of(each);
  return bytes;
}

std::int64_t BoundStep::most_memory(const OpInfo& info, std::int64_t rows, std::int64_t operands) {
  constexpr auto kList = static_cast<std::int64_t>(sizeof(ConstRows) + sizeof(Shape) + 2 * sizeof(void*));
  constexpr auto kNumber = static_cast<std::int64_t>(sizeof(std::int64_t));
  const std::int64_t lists = static_cast<std::int64_t>(info.inputs.size()) + info.results + 1;
  return static_cast<std::int64_t>(sizeof(BoundStep)) + lists * kList +
         rows * ((info.results + 5) * kNumber + info.field_bytes) + 2 * operands * kNumber;
}

StepIn part_of(const StepIn& in, std::int64_t begin, std::int64_t end, std::vector<ConstRows>& rows) {
  StepIn part = in;
  part.rows = end - begin;
  if (in.fields_data != nullptr) part.fields_data = in.fields_data + begin * in.fields_stride;
  if (in.offsets != nullptr) {
    part.offsets = in.offsets + begin;  // they count from the first operand of the whole step
    return part;
  }
  rows.clear();
  for (const ConstRows& input : in.inputs)
    rows.push_back(input.shared() ? ConstRows{input.data, end - begin, input.width, 0, nullptr}
                                  : ops::piece_of(input, begin, end - begin));
  part.inputs = rows;
  return part;
}

std::int64_t row_grain(const StepIn& in, std::int64_t width) {
  constexpr std::int64_t kElements = 16384;  // some ten microseconds of work
  std::int64_t elements = std::max<std::int64_t>(width, 1);
  for (const ConstRows& input : in.inputs) elements = std::max(elements, input.width);
  if (in.offsets != nullptr) elements *= std::max<std::int64_t>((in.offsets[in.rows] - in.offsets[0]) / in.rows, 1);
  return std::max<std::int64_t>(kElements / elements, 1);
}

}  // namespace espalier::exec
