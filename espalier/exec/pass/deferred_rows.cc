#include "espalier/exec/pass/deferred_rows.h"

#include <algorithm>
#include <cstring>

namespace espalier::exec {

/// The columns of a cell that its weights read, and of other ops what their backward reads: rows that nobody reads must
/// not keep others from being one matrix.
void DeferredRows::open(const BoundStep& view, const Saved& saved) {
  const StepIn& in = saved.in;
  const OpInfo& info = *graph_->signature(view.nodes()[0]).info;
  const bool is_cell = info.kind == Kind::kCell;
  operands_ = in.size();
  results_ = saved.results.size();
  shapes_.assign(in.shapes.begin(), in.shapes.end());
  parameters_.assign(in.parameters.begin(), in.parameters.end());
  shared_.clear();
  nodes_.clear();
  parts_.clear();
  offsets_.clear();
  first_equal_.clear();
  read_ = 0;
  parts_a_step_ = 0;
  columns_.resize(column_of(kFirstResult) + results_);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    bool is_read = true;
    if (c < operands_)
      is_read = is_cell ? (info.weights_read_inputs >> c & 1U) != 0 : info.keeps_input(c);
    else if (c == column_of(kY))
      is_read = !is_cell && info.keep.output;
    else if (c == column_of(kDy))
      is_read = !is_cell || info.weights_read_dy;
    else if (c >= column_of(kFirstResult))
      is_read = (info.weights_read_results >> (c - column_of(kFirstResult)) & 1U) != 0;
    ConstRows& rows = columns_[c].rows = rows_of(saved, c);
    const bool is_shared = c < operands_ && view.is_shared(c);
    if (is_shared) shared_.push_back(view.operand(0, c));
    if (!is_read && !is_shared) rows = {nullptr, rows.count, rows.width, 0, nullptr};
    columns_[c].part = rows.data != nullptr && !is_shared ? static_cast<std::int32_t>(parts_a_step_++) : kNone;
  }
}

ConstRows DeferredRows::rows_of(const Saved& saved, std::size_t column) const {
  if (column < operands_) return saved.in[column];
  if (column == column_of(kY)) return saved.y;
  if (column == column_of(kSaved)) return saved.saved;
  if (column == column_of(kDy)) return saved.dy;
  if (column == column_of(kDeferred)) return saved.deferred;
  return saved.results[column - column_of(kFirstResult)];
}

void DeferredRows::add(const BoundStep& view, const Saved& saved) {
  const StepIn& in = saved.in;
  if (empty()) open(view, saved);
  const std::size_t first_equal = first_equal_.size();
  const std::size_t offsets = offsets_.size();
  segments_.push_back({static_cast<std::uint32_t>(nodes_.size()), static_cast<std::uint32_t>(view.nodes().size()),
                       static_cast<std::int32_t>(in.rows),
                       in.first_equal != nullptr ? static_cast<std::int32_t>(first_equal) : kNone});
  if (in.first_equal != nullptr)
    first_equal_.insert(first_equal_.end(), in.first_equal, in.first_equal + in.operand_begin[in.nodes]);
  nodes_.insert(nodes_.end(), view.nodes().begin(), view.nodes().end());
  const OpInfo& info = *graph_->signature(nodes_[0]).info;
  read_ |= info.shared_read == nullptr ? ~std::uint64_t{0} : info.shared_read(graph_->attrs(nodes_[0]), in);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].part == kNone) continue;
    const ConstRows rows = rows_of(saved, c);
    const bool is_even = rows.offsets == nullptr;
    parts_.push_back({rows.data, is_even ? rows.stride : static_cast<std::int64_t>(offsets_.size()),
                      static_cast<std::int32_t>(rows.count), is_even});
    if (!is_even) offsets_.insert(offsets_.end(), rows.offsets, rows.offsets + rows.count);
  }
  memory_ += static_cast<std::int64_t>(
      sizeof(Segment) + view.nodes().size() * sizeof(NodeId) + parts_a_step_ * sizeof(Part) +
      (first_equal_.size() - first_equal) * sizeof(std::int32_t) + (offsets_.size() - offsets) * sizeof(std::int64_t));
}

/// Rows after rows: evenly spaced while all lie so, else each by its place.
void DeferredRows::append(Column& column, const ConstRows& next) {
  ConstRows& rows = column.rows;
  if (rows.shared()) {
    rows.count += next.count;
    return;
  }
  const auto distance_to = [&](const float* row) {
    return (reinterpret_cast<std::intptr_t>(row) - reinterpret_cast<std::intptr_t>(rows.data)) /
           static_cast<std::intptr_t>(sizeof(float));
  };
  // A single row has the distance that its neighbour gives it.
  const std::int64_t distance = distance_to(next.data);
  const std::int64_t stride = rows.count > 1 ? rows.stride : next.count > 1 ? next.stride : distance;
  const bool follows = rows.offsets == nullptr && next.offsets == nullptr && stride >= rows.width &&
                       (next.count == 1 || next.stride == stride) && distance == rows.count * stride;
  if (follows) {
    rows.stride = stride;
  } else {
    if (column.offsets.empty())
      for (std::int64_t r = 0; r < rows.count; ++r)
        column.offsets.push_back(rows.offsets == nullptr ? r * rows.stride : rows.offsets[r]);
    for (std::int64_t r = 0; r < next.count; ++r) column.offsets.push_back(distance_to(next[r]));
    rows.offsets = column.offsets.data();
  }
  rows.count += next.count;
}

std::int64_t DeferredRows::join(std::size_t first, std::size_t last) {
  in_order_.clear();
  std::int64_t rows = 0;
  for (std::size_t s = last; s-- > first;) {
    const auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(segments_[s].first_node);
    in_order_.insert(in_order_.end(), begin, begin + static_cast<std::ptrdiff_t>(segments_[s].nodes));
    rows += segments_[s].rows;
  }
  for (Column& column : columns_) {
    if (column.part == kNone) continue;
    column.offsets.clear();
    for (std::size_t s = last; s-- > first;) {
      const Part& part = parts_[s * parts_a_step_ + static_cast<std::size_t>(column.part)];
      const std::int64_t width = column.rows.width;
      const ConstRows next = part.is_even
                                 ? ConstRows{part.data, part.count, width, part.stride, nullptr}
                                 : ConstRows{part.data, part.count, width, width, offsets_.data() + part.stride};
      if (s + 1 == last)
        column.rows = next;
      else
        append(column, next);
    }
  }
  return rows;
}

void DeferredRows::run(std::span<const Target> targets) {
  // However the steps lie, all rows go into one call: bits must not depend on where gradients happen to have their
  // place. But what an op that takes its operands whole left lies as its step was.
  if (graph_->signatures()[signature_].info->takes_whole) {
    later_targets_.assign(targets.begin(), targets.end());
    for (std::size_t s = segments_.size(); s-- > 0;) {
      run_steps(s, s + 1, later_targets_);
      for (Target& target : later_targets_) target.store = false;
    }
  } else {
    run_steps(0, segments_.size(), targets);
    memory_ += memory_of(in_order_);
    for (const Column& column : columns_) memory_ += memory_of(column.offsets);
  }
  segments_.clear();
}

void DeferredRows::run_steps(std::size_t first, std::size_t last, std::span<const Target> targets) {
  const OpInfo& info = *graph_->signatures()[signature_].info;
  const std::int64_t rows = join(first, last);
  open_unread();
  const auto shown = [&](std::size_t column) {
    ConstRows of = columns_[column].rows;
    if (of.data == nullptr) of = {unread_.data(), rows, of.width, 0, nullptr};
    if (!info.takes_whole) of.count = rows;
    return of;
  };
  const auto writable = [](const ConstRows& of) {
    return Rows{const_cast<float*>(of.data), of.count, of.width, of.stride, of.offsets};
  };
  inputs_.clear();
  grads_.clear();
  for (std::size_t i = 0; i < operands_; ++i) {
    inputs_.push_back(shown(i));
    grads_.emplace_back(Rows{targets[i].data, rows, inputs_.back().width, 0, nullptr}, targets[i].store);
  }
  result_rows_.clear();
  for (std::size_t k = 0; k < results_; ++k) result_rows_.push_back(writable(shown(column_of(kFirstResult) + k)));
  const std::int32_t equal = segments_[first].first_equal;
  const std::int32_t* const first_equal = equal == kNone ? nullptr : first_equal_.data() + equal;
  Saved saved;
  saved.in = input_of(rows, first_equal, info);
  saved.y = shown(column_of(kY));
  saved.saved = shown(column_of(kSaved));
  saved.dy = shown(column_of(kDy));
  saved.deferred = writable(shown(column_of(kDeferred)));
  saved.results = result_rows_;
  Grads into(grads_);
  const void* attrs = graph_->signatures().attrs(signature_);
  if (info.weight_gradients != nullptr)
    info.weight_gradients(attrs, saved, into);
  else
    info.backward(attrs, saved, into);
}

/// What is not read has an address all the same: a kernel may load it, and leave it at that.
void DeferredRows::open_unread() {
  std::int64_t widest = 1;
  for (const Column& column : columns_)
    if (column.rows.data == nullptr) widest = std::max(widest, column.rows.width);
  unread_.resize(static_cast<std::size_t>(widest));
}

StepIn DeferredRows::input_of(std::int64_t rows, const std::int32_t* first_equal, const OpInfo& info) {
  const std::span<const NodeId> nodes = in_order_;
  const auto size = static_cast<std::size_t>(info.field_bytes);
  fields_.resize(size * static_cast<std::size_t>(rows));
  std::byte* to = fields_.data();
  for (NodeId node : size > 0 ? nodes : std::span<const NodeId>()) {
    const std::size_t bytes = size * static_cast<std::size_t>(graph_->rows(node));
    std::memcpy(to, graph_->fields(node), bytes);
    to += bytes;
  }
  StepIn in;
  in.rows = rows;
  in.inputs = inputs_;
  in.shapes = shapes_;
  in.out = &graph_->type(nodes[0]).shape;
  in.fields_data = fields_.data();
  in.fields_stride = info.field_bytes;
  in.parameters = parameters_;
  if (!info.takes_whole) return in;
  node_begin_.assign(1, 0);
  operand_begin_.assign(1, 0);
  for (NodeId node : nodes) {
    node_begin_.push_back(node_begin_.back() + graph_->rows(node));
    operand_begin_.push_back(operand_begin_.back() + graph_->rows(graph_->inputs(node)[0]));
  }
  in.nodes = static_cast<std::int64_t>(nodes.size());
  in.node_begin = node_begin_.data();
  in.operand_begin = operand_begin_.data();
  in.first_equal = first_equal;
  return in;
}

}  // namespace espalier::exec
