/// Steps for the conformance tests: nodes laid out in memory in every way that a step kernel must take, with NaN in the
/// gaps between rows that are read and a mark in the gaps between rows that are written.
#pragma once

#include <cstring>
#include <numeric>
#include <optional>

#include "espalier/ops/step.h"
#include "tests/ops/conformance.h"

namespace espalier::conformance {

enum class Layout { kDense, kStrided, kOffsets, kShared };

inline const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::kDense: return "dense";
    case Layout::kStrided: return "strided";
    case Layout::kOffsets: return "offsets";
    case Layout::kShared: return "shared";
  }
  return "";
}

/// `count` rows of `width`, and the memory they lie in.
class RowMemory {
 public:
  RowMemory(Layout layout, std::size_t count, std::size_t width, float fill, Random& random)
      : layout_(layout), count_(count), width_(width) {
    const std::size_t gap = layout == Layout::kStrided ? 3 : layout == Layout::kOffsets ? 1 : 0;
    const std::size_t slots = layout == Layout::kShared ? 1 : layout == Layout::kOffsets ? 2 * count : count;
    memory_.assign(slots * (width + gap) + 1, fill);  // one more, so that there is an address
    stride_ = layout == Layout::kShared ? 0 : static_cast<std::int64_t>(width + gap);
    if (layout != Layout::kOffsets) return;
    offsets_.resize(slots);
    for (std::size_t i = 0; i < slots; ++i) offsets_[i] = static_cast<std::int64_t>(i) * stride_;
    random.shuffle(std::span<std::int64_t>(offsets_));
    stride_ = 0;
  }

  Rows rows() {
    return {memory_.data(), static_cast<std::int64_t>(count_), static_cast<std::int64_t>(width_), stride_,
            offsets_.empty() ? nullptr : offsets_.data()};
  }
  std::span<float> row(std::size_t r) { return {rows()[static_cast<std::int64_t>(r)], width_}; }
  void set(std::size_t r, const std::vector<float>& values) { std::copy(values.begin(), values.end(), row(r).begin()); }
  std::size_t distinct_rows() const { return layout_ == Layout::kShared ? 1 : count_; }
  void fill_rows(float value) {
    for (std::size_t r = 0; r < distinct_rows(); ++r) std::fill(row(r).begin(), row(r).end(), value);
  }
  /// Whether everything between the rows still holds `mark`. Overwrites the rows.
  bool gaps_hold(float mark) {
    fill_rows(mark);
    return std::all_of(memory_.begin(), memory_.end(), [&](float value) { return value == mark; });
  }

 private:
  Layout layout_;
  std::size_t count_;
  std::size_t width_;
  std::int64_t stride_ = 0;
  std::vector<float> memory_;
  std::vector<std::int64_t> offsets_;
};

/// n nodes of one signature, ready to run forward and then backward.
class Step {
 public:
  static constexpr float kMark = 12345;

  /// `shared` says for each input whether the nodes share it; they then all have the first node's. `layout` is that of
  /// everything else.
  Step(const OpInfo& info, std::vector<Node> nodes, Layout layout, std::vector<bool> shared, Random& random)
      : info_(info), nodes_(std::move(nodes)), layout_(layout), shared_(std::move(shared)), random_(random) {
    for (Node& node : nodes_)
      for (std::size_t i = 0; i < shared_.size(); ++i)
        if (shared_[i]) node.inputs[i] = nodes_.front().inputs[i];
    lay_out_inputs();
    lay_out_fields();
    const std::vector<Shape> shapes = inferred_from(info, nodes_.front().shapes);
    shapes_ = shapes;
    const auto saved =
        info.saved == nullptr
            ? std::size_t{0}
            : static_cast<std::size_t>(info.saved(nodes_.front().attrs(), InputShapes(info.name, info.inputs, shapes)));
    y_.emplace(layout, nodes_.size(), nodes_.front().elements(), kMark, random);
    y_->fill_rows(kNan);
    saved_.emplace(Layout::kDense, nodes_.size(), saved, kMark, random);
    saved_->fill_rows(kNan);
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  std::size_t inputs() const { return input_memory_.size(); }
  bool shared(std::size_t input) const { return input < shared_.size() && shared_[input]; }
  bool ragged() const { return info_.is_ragged(); }

  void forward() {
    StepOut out;
    out.y = y_->rows();
    out.saved = saved_->rows();
    info_.forward(nodes_.front().attrs(), step_in(), out);
  }
  std::vector<float> y(std::size_t r) {
    const std::span<float> row = y_->row(r);
    return {row.begin(), row.end()};
  }
  bool wrote_outside() { return !y_->gaps_hold(kMark) || !saved_->gaps_hold(kMark); }

  /// Overwrites with NaN all that backward does not say it reads.
  void poison() {
    for (std::size_t i = 0; i < input_memory_.size(); ++i)
      if (!info_.keeps(i)) input_memory_[i].fill_rows(kNan);
    if (!info_.keep.output) y_->fill_rows(kNan);
  }

  void backward(std::span<const GradRows> into, const std::vector<std::vector<float>>& dy) {
    RowMemory dy_memory(layout_, nodes_.size(), nodes_.front().elements(), kNan, random_);
    for (std::size_t r = 0; r < nodes_.size(); ++r) dy_memory.set(r, dy[r]);
    Grads grads(into);
    Saved saved;
    saved.in = step_in();
    saved.y = y_->rows();
    saved.saved = saved_->rows();
    saved.dy = dy_memory.rows();
    info_.backward(nodes_.front().attrs(), saved, grads);
  }

  /// Memory for the gradient of one input, laid out as the input is.
  RowMemory gradient_memory(std::size_t input) {
    return {shared(input) ? Layout::kShared : layout_, rows_of(input), width_of(input), kMark, random_};
  }
  /// How many rows the input has: of a ragged one, all operands of all nodes.
  std::size_t rows_of(std::size_t) const {
    return ragged() ? static_cast<std::size_t>(ragged_begin_.back()) : nodes_.size();
  }
  std::size_t width_of(std::size_t input) const { return nodes_.front().inputs[input].size(); }
  /// The input's gradients in the order of its rows, given those of every node by every operand; those of a shared
  /// input are summed.
  std::vector<std::vector<double>> rows_of_gradient(
      std::size_t input, const std::vector<std::vector<std::vector<double>>>& gradients) const {
    std::vector<std::vector<double>> result;
    for (const auto& of_node : gradients) {
      if (ragged()) {
        result.insert(result.end(), of_node.begin(), of_node.end());
      } else if (shared(input) && !result.empty()) {
        for (std::size_t j = 0; j < of_node[input].size(); ++j) result[0][j] += of_node[input][j];
      } else {
        result.push_back(of_node[input]);
      }
    }
    return result;
  }

 private:
  void lay_out_inputs() {
    ragged_begin_ = {0};
    for (const Node& node : nodes_)
      ragged_begin_.push_back(ragged_begin_.back() + static_cast<std::int64_t>(node.inputs.size()));
    const std::size_t inputs = ragged() ? 1 : nodes_.front().inputs.size();
    for (std::size_t i = 0; i < inputs; ++i) {
      RowMemory memory(shared(i) ? Layout::kShared : layout_, rows_of(i), width_of(i), kNan, random_);
      std::size_t row = 0;
      for (const Node& node : nodes_) {
        if (ragged())
          for (const auto& operand : node.inputs) memory.set(row++, operand);
        else
          memory.set(row++, node.inputs[i]);
      }
      input_memory_.push_back(std::move(memory));
    }
    for (RowMemory& memory : input_memory_) input_rows_.push_back(memory.rows());
  }

  void lay_out_fields() {
    const auto bytes = static_cast<std::size_t>(info_.field_bytes);
    fields_stride_ = (bytes + 7) / 8 * 8;
    fields_.resize(fields_stride_ * nodes_.size() / 8);
    for (std::size_t r = 0; r < nodes_.size() && bytes > 0; ++r)
      std::memcpy(reinterpret_cast<std::byte*>(fields_.data()) + r * fields_stride_, nodes_[r].fields(), bytes);
  }

  StepIn step_in() const {
    StepIn in;
    in.rows = static_cast<std::int64_t>(nodes_.size());
    in.inputs = input_rows_;
    in.shapes = shapes_;
    in.out = &nodes_.front().out;
    in.offsets = ragged() ? ragged_begin_.data() : nullptr;
    in.fields_data = reinterpret_cast<const std::byte*>(fields_.data());
    in.fields_stride = static_cast<std::int64_t>(fields_stride_);
    return in;
  }

  const OpInfo& info_;
  std::vector<Node> nodes_;
  Layout layout_;
  std::vector<bool> shared_;
  Random& random_;
  std::vector<RowMemory> input_memory_;
  std::vector<ConstRows> input_rows_;
  std::vector<Shape> shapes_;
  std::vector<std::int64_t> ragged_begin_;
  std::vector<std::uint64_t> fields_;
  std::size_t fields_stride_ = 0;
  std::optional<RowMemory> y_;
  std::optional<RowMemory> saved_;
};

/// Every way to share inputs: what must be shared is, what may be is and is not.
inline std::vector<std::vector<bool>> ways_to_share(const OpInfo& info, std::size_t inputs) {
  if (info.takes_any_number()) return {std::vector<bool>(inputs, false)};
  std::vector<std::vector<bool>> ways{{}};
  for (const Input& input : info.inputs) {
    std::vector<std::vector<bool>> longer;
    for (const auto& way : ways)
      for (const bool shared : {false, true}) {
        if (input.role == Role::kStacked && shared) continue;
        if (input.role == Role::kShared && !shared) continue;
        longer.push_back(way);
        longer.back().push_back(shared);
      }
    ways = longer;
  }
  return ways;
}

/// `rows` nodes that may run together with sample `index`: its own, and those of samples that differ in their fields
/// only. Of a ragged op they have 1, 2 and 5 operands besides the sample's own number.
inline std::vector<Node> nodes_for(const OpInfo& info, const Samples& samples, std::size_t index, std::size_t rows,
                                   Random& random) {
  const OpSample& first = samples[index];
  std::vector<const OpSample*> together{&first};
  for (const OpSample& other : samples) {
    const bool fits = other.call.attrs == first.call.attrs && other.call.fields != first.call.fields &&
                      inferred_from(info, shapes_of(other)) == inferred_from(info, shapes_of(first));
    if (fits) together.push_back(&other);
  }
  constexpr std::size_t kOperands[] = {0, 1, 5, 2};
  std::vector<Node> nodes;
  for (std::size_t r = 0; r < rows; ++r)
    nodes.push_back(make_node(info, *together[r % together.size()], random, kOperands[r % std::size(kOperands)]));
  return nodes;
}

/// Numbers for dy.
inline std::vector<std::vector<float>> random_rows(std::size_t rows, std::size_t width, Random& random) {
  std::vector<std::vector<float>> result;
  for (std::size_t r = 0; r < rows; ++r) result.push_back(distinct_numbers(width, -2, 2, random));
  return result;
}

}  // namespace espalier::conformance
