#include "espalier/exec/pass/deferred_rows.h"

#include <algorithm>
#include <cstring>

namespace espalier::exec {

void DeferredRows::set(Column& column, const ConstRows& rows, bool is_read) {
  column.offsets.clear();
  if (!is_read) {
    column.rows = {nullptr, rows.count, rows.width, 0, nullptr};
    return;
  }
  column.rows = rows;
  if (rows.offsets == nullptr) return;
  column.offsets.assign(rows.offsets, rows.offsets + rows.count);
  column.rows.offsets = column.offsets.data();
}

DeferredRows::Segment& DeferredRows::add_segment(std::size_t columns) {
  if (used_ == segments_.size()) segments_.emplace_back();
  Segment& segment = segments_[used_++];
  segment.columns.resize(columns);
  return segment;
}

void DeferredRows::add(const BoundStep& view, const Saved& saved) {
  const StepIn& in = saved.in;
  if (empty()) {
    operands_ = in.size();
    results_ = saved.results.size();
    shapes_.assign(in.shapes.begin(), in.shapes.end());
    parameters_.assign(in.parameters.begin(), in.parameters.end());
    shared_.clear();
    nodes_.clear();
    read_ = 0;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (view.is_shared(i)) shared_.push_back(view.operand(0, i));
  }
  Segment& segment = add_segment(column_of(kFirstResult) + results_);
  segment.first_node = nodes_.size();
  segment.nodes = view.nodes().size();
  segment.rows = in.rows;
  segment.first_equal.clear();
  if (in.first_equal != nullptr)
    segment.first_equal.assign(in.first_equal, in.first_equal + in.operand_begin[in.nodes]);
  nodes_.insert(nodes_.end(), view.nodes().begin(), view.nodes().end());
  // Only what will be read: rows that nobody reads must not keep others from being one matrix.
  const OpInfo& info = *graph_->signature(nodes_[0]).info;
  const bool is_cell = info.kind == Kind::kCell;
  read_ |= info.shared_read == nullptr ? ~std::uint64_t{0} : info.shared_read(graph_->attrs(nodes_[0]), in);
  Column* column = segment.columns.data();
  for (std::size_t i = 0; i < in.size(); ++i)
    set(*column++, in[i],
        view.is_shared(i) || (is_cell ? (info.weights_read_inputs >> i & 1U) != 0 : info.keeps_input(i)));
  set(*column++, saved.y, !is_cell && info.keep.output);
  set(*column++, saved.saved, true);
  set(*column++, saved.dy, !is_cell || info.weights_read_dy);
  set(*column++, saved.deferred, true);
  for (std::size_t k = 0; k < results_; ++k)
    set(*column++, saved.results[k], (info.weights_read_results >> k & 1U) != 0);
  memory_ += static_cast<std::int64_t>(sizeof(Segment) + segment.nodes * sizeof(NodeId)) +
             memory_of(segment.columns, segment.first_equal);
  for (const Column& each : segment.columns) memory_ += memory_of(each.offsets);
}

void DeferredRows::append(Column& column, const ConstRows& next) {
  ConstRows& rows = column.rows;
  if (rows.data == nullptr || rows.shared()) {
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
    if (rows.offsets == nullptr)
      for (std::int64_t r = 0; r < rows.count; ++r) column.offsets.push_back(r * rows.stride);
    for (std::int64_t r = 0; r < next.count; ++r) column.offsets.push_back(distance_to(next[r]));
    rows.offsets = column.offsets.data();
  }
  rows.count += next.count;
}

void DeferredRows::run(std::span<const Target> targets) {
  // Backward met the steps from the last to the first; in memory they lie from the first to the last. However they lie,
  // all rows go into one call: bits must not depend on where gradients happen to have their place.
  const std::span<Segment> all = segments();
  std::reverse(all.begin(), all.end());
  if (graph_->signatures()[signature_].info->takes_whole) {
    run_each_segment(targets);
    used_ = 0;
    return;
  }
  in_order_.clear();
  for (const Segment& segment : all) {
    const auto first = nodes_.begin() + static_cast<std::ptrdiff_t>(segment.first_node);
    in_order_.insert(in_order_.end(), first, first + static_cast<std::ptrdiff_t>(segment.nodes));
  }
  for (const Segment& next : all.subspan(1)) {
    for (std::size_t c = 0; c < next.columns.size(); ++c) append(all[0].columns[c], next.columns[c].rows);
    all[0].rows += next.rows;
  }
  memory_ += memory_of(in_order_);
  for (const Column& column : all[0].columns) memory_ += memory_of(column.offsets);
  run_segment(all[0], in_order_, targets);
  used_ = 0;
}

void DeferredRows::run_each_segment(std::span<const Target> targets) {
  later_targets_.assign(targets.begin(), targets.end());
  for (const Segment& segment : segments()) {
    run_segment(segment, std::span(nodes_).subspan(segment.first_node, segment.nodes), later_targets_);
    for (Target& target : later_targets_) target.store = false;
  }
}

void DeferredRows::run_segment(const Segment& segment, std::span<const NodeId> nodes, std::span<const Target> targets) {
  const OpInfo& info = *graph_->signatures()[signature_].info;
  open_unread(segment);
  const auto rows_of = [&](std::size_t column) {
    ConstRows rows = segment.columns[column].rows;
    if (rows.data == nullptr) rows = {unread_.data(), segment.rows, rows.width, 0, nullptr};
    if (!info.takes_whole) rows.count = segment.rows;
    return rows;
  };
  const auto writable = [](const ConstRows& rows) {
    return Rows{const_cast<float*>(rows.data), rows.count, rows.width, rows.stride, rows.offsets};
  };
  inputs_.clear();
  grads_.clear();
  for (std::size_t i = 0; i < operands_; ++i) {
    inputs_.push_back(rows_of(i));
    grads_.emplace_back(Rows{targets[i].data, segment.rows, inputs_.back().width, 0, nullptr}, targets[i].store);
  }
  result_rows_.clear();
  for (std::size_t k = 0; k < results_; ++k) result_rows_.push_back(writable(rows_of(column_of(kFirstResult) + k)));
  Saved saved;
  saved.in = input_of(segment, nodes, info);
  saved.y = rows_of(column_of(kY));
  saved.saved = rows_of(column_of(kSaved));
  saved.dy = rows_of(column_of(kDy));
  saved.deferred = writable(rows_of(column_of(kDeferred)));
  saved.results = result_rows_;
  Grads into(grads_);
  const void* attrs = graph_->signatures().attrs(signature_);
  if (info.weight_gradients != nullptr)
    info.weight_gradients(attrs, saved, into);
  else
    info.backward(attrs, saved, into);
}

/// What is not read has an address all the same: a kernel may load it, and leave it at that.
void DeferredRows::open_unread(const Segment& segment) {
  std::int64_t widest = 1;
  for (const Column& column : segment.columns)
    if (column.rows.data == nullptr) widest = std::max(widest, column.rows.width);
  unread_.resize(static_cast<std::size_t>(widest));
}

/// The operands in `inputs_` as a step of these nodes.
StepIn DeferredRows::input_of(const Segment& segment, std::span<const NodeId> nodes, const OpInfo& info) {
  const auto size = static_cast<std::size_t>(info.field_bytes);
  fields_.resize(size * static_cast<std::size_t>(segment.rows));
  std::byte* to = fields_.data();
  for (NodeId node : size > 0 ? nodes : std::span<const NodeId>()) {
    const std::size_t bytes = size * static_cast<std::size_t>(graph_->rows(node));
    std::memcpy(to, graph_->fields(node), bytes);
    to += bytes;
  }
  StepIn in;
  in.rows = segment.rows;
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
  if (!segment.first_equal.empty()) in.first_equal = segment.first_equal.data();
  return in;
}

}  // namespace espalier::exec
