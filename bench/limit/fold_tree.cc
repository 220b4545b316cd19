#include "bench/limit/fold_tree.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/limit/map_loops.h"
#include "espalier/kernels/rows.h"

namespace espalier::bench {

FoldTreeLimit::FoldTreeLimit(std::shared_ptr<const DataSet<BinaryTree>> data, const Model& model)
    : LimitRunner(model),
      data_(std::move(data)),
      table_(weights_["leaves.table"]),
      first_(weights_["first.W"], &weights_["first.b"]),
      second_(weights_["second.W"], &weights_["second.b"]),
      first_bias_(weights_["first.b"]),
      second_bias_(weights_["second.b"]),
      size_(table_.width()) {}

void FoldTreeLimit::lay_out(std::span<const std::int32_t> batch, bool training) {
  layout_.assign(data_->instances, batch, lanes());
  rows_.size = size_;
  rows_.slot = layout_.slot_of_inner();
  rows_.s = s_.room(layout_.slots() * size_);
  rows_.gates = gates_.room(layout_.inner() * second_.outputs());
  a_.room(layout_.inner() * size_);
  if (training) {
    rows_.ds = ds_.room(layout_.slots() * size_);
    da_.room(layout_.inner() * size_);
  }
  watch().lap(Part::kLayout);
}

void FoldTreeLimit::forward(bool keep) {
  Preparing levels = layout_.preparing();
  if (!keep) levels.add_forever();
  first_.prepare_forward(levels, watch());
  second_.prepare_forward(levels, watch());
  for_rows(layout_.leaves(), [&](std::int64_t, Watch& watch, std::int64_t begin, std::int64_t end) {
    table_.scatter(layout_.leaf_words(), layout_.leaf_slots(), begin, end, s_.data());
    watch.lap(Part::kLoops);
  });
  for_lanes([&](std::int64_t lane, Watch& watch) {
    for (const Range level : layout_.levels(lane)) {
      float* a = a_.data() + level.begin * size_;
      first_.forward(level.size(), s_.data() + 2 * level.begin * size_, a, /*accumulate=*/false, watch);
      relu_rows(level.size(), size_, a);
      watch.lap(Part::kLoops);
      second_.forward(level.size(), a, gates_.data() + level.begin * second_.outputs(), /*accumulate=*/false, watch);
      fold_forward(rows_, level.begin, level.end, keep);
      watch.lap(Part::kLoops);
    }
  });
}

double FoldTreeLimit::sum_of_roots() const {
  double sum = 0;
  for (std::int64_t root = layout_.first_root(); root < layout_.slots(); ++root)
    sum += kernels::sum({s_.data() + root * size_, static_cast<std::size_t>(size_)});
  return sum;
}

void FoldTreeLimit::backward(float scale) {
  first_.prepare_backward(layout_.preparing(), watch());
  second_.prepare_backward(layout_.preparing(), watch());
  first_bias_.clear(lanes());
  second_bias_.clear(lanes());
  std::fill_n(ds_.data() + layout_.first_root() * size_, layout_.roots() * size_, scale);
  for_lanes([&](std::int64_t lane, Watch& watch) {
    const std::span<const Range> levels = layout_.levels(lane);
    for (std::size_t l = levels.size(); l-- > 0;) {
      const Range level = levels[l];
      float* da = da_.data() + level.begin * size_;
      fold_backward(rows_, level.begin, level.end, second_bias_.of_lane(lane));
      watch.lap(Part::kLoops);
      second_.backward(level.size(), gates_.data() + level.begin * second_.outputs(), da, /*accumulate=*/false, watch);
      relu_rows_backward(level.size(), size_, a_.data() + level.begin * size_, da, first_bias_.of_lane(lane));
      watch.lap(Part::kLoops);
      first_.backward(level.size(), da, ds_.data() + 2 * level.begin * size_, /*accumulate=*/true, watch);
    }
  });
}

void FoldTreeLimit::add_gradients() {
  second_.add_gradient(layout_.inner(), a_.data(), gates_.data(), watch());
  first_.add_gradient(layout_.inner(), s_.data(), da_.data(), watch());
  for_rows(size_, [&](std::int64_t, Watch& watch, std::int64_t begin, std::int64_t end) {
    table_.add_gradients(layout_.leaf_words(), layout_.leaf_slots(), ds_.data(), begin, end);
    watch.lap(Part::kUpdate);
  });
  first_bias_.add();
  second_bias_.add();
  watch().lap(Part::kUpdate);
}

double FoldTreeLimit::differentiate(std::span<const std::int32_t> batch, float scale) {
  lay_out(batch, /*training=*/true);
  forward(/*keep=*/true);
  const double loss = sum_of_roots();
  backward(scale);
  add_gradients();
  return loss;
}

double FoldTreeLimit::evaluate(std::span<const std::int32_t> batch) {
  lay_out(batch, /*training=*/false);
  forward(/*keep=*/false);
  const double sum = sum_of_roots();
  watch().lap(Part::kLoops);
  return sum;
}

}  // namespace espalier::bench
