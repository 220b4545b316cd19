#include "espalier/exec/deferred.h"

#include <algorithm>
#include <cstring>

namespace espalier::exec {

void DeferredGroup::append(Column& column, const ConstRows& rows) {
  column.width = rows.width;
  if (column.shared) {
    column.rows.assign(1, rows.data);
    return;
  }
  for (std::int64_t r = 0; r < rows.count; ++r) column.rows.push_back(rows[r]);
}

void DeferredGroup::add(const StepView& view, const ConstRows& dy) {
  const StepIn& in = view.in();
  if (nodes_.empty()) {
    operands_.resize(in.size());
    shapes_.assign(in.shapes.begin(), in.shapes.end());
    shared_.clear();
    for (std::size_t i = 0; i < in.size(); ++i)
      if (view.is_shared(i)) shared_.push_back(view.operand(0, i));
  }
  nodes_.insert(nodes_.end(), view.nodes().begin(), view.nodes().end());
  for (std::size_t i = 0; i < in.size(); ++i) {
    operands_[i].shared = view.is_shared(i);
    append(operands_[i], in[i]);
  }
  append(y_, view.y());
  if (view.saved().data != nullptr) append(saved_, view.saved());
  append(dy_, dy);
}

ConstRows DeferredGroup::rows_of(Column& column, bool gather) const {
  const auto count = static_cast<std::int64_t>(nodes_.size());
  if (column.rows.empty()) return {};
  if (column.shared) return {column.rows[0], count, column.width, 0, nullptr};
  const ConstRows rows = rows_at<const float>(
      count, column.width, [&](std::int64_t r) { return column.rows[static_cast<std::size_t>(r)]; }, column.offsets);
  if (!gather || rows.offsets == nullptr) return rows;
  column.gathered.resize(static_cast<std::size_t>(count * column.width));
  for (std::int64_t r = 0; r < count; ++r)
    std::memcpy(column.gathered.data() + r * column.width, rows[r], static_cast<std::size_t>(column.width) * 4);
  return {column.gathered.data(), count, column.width, column.width, nullptr};
}

void DeferredGroup::run(std::span<float* const> targets) {
  const Signature& signature = graph_.signatures()[signature_];
  const OpInfo& info = *signature.info;
  const auto count = static_cast<std::int64_t>(nodes_.size());
  const bool product = info.kind == Kind::kProduct;
  std::vector<ConstRows> inputs;
  std::vector<GradRows> grads;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    inputs.push_back(rows_of(operands_[i], product && info.inputs[i].block));
    grads.emplace_back(Rows{targets[i], count, operands_[i].width, 0, nullptr}, /*store=*/false);
  }
  const auto size = static_cast<std::size_t>(info.field_bytes);
  std::vector<std::byte> fields(size * nodes_.size());
  for (std::size_t r = 0; r < nodes_.size() && size > 0; ++r)
    std::memcpy(fields.data() + r * size, graph_.fields(nodes_[r]), size);
  Grads into(grads);
  info.backward(graph_.signatures().attrs(signature_),
                Saved{.in = {.rows = count,
                             .inputs = inputs,
                             .shapes = shapes_,
                             .out = &graph_.type(nodes_[0]).shape,
                             .offsets = nullptr,
                             .fields_data = fields.data(),
                             .fields_stride = info.field_bytes},
                      .y = rows_of(y_, false),
                      .saved = rows_of(saved_, false),
                      .dy = rows_of(dy_, product)},
                into);
  nodes_.clear();
  for (Column& column : operands_) column.rows.clear();
  for (Column* column : {&y_, &saved_, &dy_}) column->rows.clear();
}

}  // namespace espalier::exec
