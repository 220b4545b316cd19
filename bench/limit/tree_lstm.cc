#include "bench/limit/tree_lstm.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "espalier/kernels/rows.h"

namespace espalier::bench {
namespace {

void add_row(const float* from, float* to, std::int64_t width) {
  kernels::add({from, static_cast<std::size_t>(width)}, {to, static_cast<std::size_t>(width)});
}

}  // namespace

TreeLstmLimit::TreeLstmLimit(std::shared_ptr<const DataSet<BinaryTree>> data, const Model& model, bool dedupe)
    : LimitRunner(model),
      data_(std::move(data)),
      dedupe_(dedupe),
      words_(weights_["words.table"]),
      leaf_(weights_["cell.leaf.W"], &weights_["cell.leaf.b"]),
      node_(weights_["cell.U"], &weights_["cell.b"]),
      head_(weights_["classify.W"], weights_["classify.b"]),
      leaf_bias_(weights_["cell.leaf.b"]),
      node_bias_(weights_["cell.b"]),
      hidden_(node_.inputs() / 2),
      distinct_(words_.rows()) {}

void TreeLstmLimit::lay_out(std::span<const std::int32_t> batch) {
  layout_.assign(data_->instances, batch, lanes());
  distinct_.assign(layout_.leaf_words(), dedupe_);
  first_slots_.resize(static_cast<std::size_t>(distinct_.size()));
  for (std::size_t k = 0; k < first_slots_.size(); ++k)
    first_slots_[k] =
        layout_
            .leaf_slots()[static_cast<std::size_t>(distinct_.order()[static_cast<std::size_t>(distinct_.begin()[k])])];
}

void TreeLstmLimit::make_room(bool training) {
  const std::int64_t slots = layout_.slots();
  inner_.hidden = leaves_.hidden = hidden_;
  inner_.slot = layout_.slot_of_inner();
  leaves_.slot = first_slots_.data();
  inner_.h = leaves_.h = h_.room(slots * hidden_);
  inner_.c = leaves_.c = c_.room(slots * hidden_);
  inner_.gates = gates_.room(layout_.inner() * node_.outputs());
  leaves_.gates = leaf_gates_.room(distinct_.size() * leaf_.outputs());
  x_.room(distinct_.size() * leaf_.inputs());
  if (!training) return;
  inner_.tanh_c = tanh_c_.room(layout_.inner() * hidden_);
  leaves_.tanh_c = leaf_tanh_c_.room(distinct_.size() * hidden_);
  inner_.dh = leaves_.dh = dh_.room(slots * hidden_);
  inner_.dc = leaves_.dc = dc_.room(slots * hidden_);
  inner_.slots = leaves_.slots = slots;
  inner_.classes = leaves_.classes = head_.classes();
  dx_.room(distinct_.size() * leaf_.inputs());
}

void TreeLstmLimit::leaves_forward(bool keep) {
  for_rows(distinct_.size(), [&](std::int64_t, Watch& watch, std::int64_t begin, std::int64_t end) {
    words_.gather(distinct_.rows().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                  x_.data() + begin * leaf_.inputs());
    watch.lap(Part::kLoops);
  });
  leaf_.forward(distinct_.size(), x_.data(), leaves_.gates, /*accumulate=*/false, watch());
  for_rows(distinct_.size(), [&](std::int64_t, Watch& watch, std::int64_t begin, std::int64_t end) {
    tree_lstm_leaves_forward(leaves_, begin, end, keep);
    if (dedupe_) copy_states(begin, end);
    watch.lap(Part::kLoops);
  });
}

void TreeLstmLimit::copy_states(std::int64_t begin, std::int64_t end) {
  const std::span<const std::int32_t> uses = distinct_.begin();
  for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k)
    for (auto use = static_cast<std::size_t>(uses[k]) + 1; use < static_cast<std::size_t>(uses[k + 1]); ++use) {
      const std::int64_t slot = layout_.leaf_slots()[static_cast<std::size_t>(distinct_.order()[use])];
      std::copy_n(h_.data() + first_slots_[k] * hidden_, hidden_, h_.data() + slot * hidden_);
      std::copy_n(c_.data() + first_slots_[k] * hidden_, hidden_, c_.data() + slot * hidden_);
    }
}

void TreeLstmLimit::join_gradients(std::int64_t begin, std::int64_t end) {
  const std::span<const std::int32_t> uses = distinct_.begin();
  for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k)
    for (auto use = static_cast<std::size_t>(uses[k]) + 1; use < static_cast<std::size_t>(uses[k + 1]); ++use) {
      const std::int64_t slot = layout_.leaf_slots()[static_cast<std::size_t>(distinct_.order()[use])];
      add_row(dh_.data() + slot * hidden_, dh_.data() + first_slots_[k] * hidden_, hidden_);
      add_row(dc_.data() + slot * hidden_, dc_.data() + first_slots_[k] * hidden_, hidden_);
      for (std::int64_t c = 0; c < head_.classes(); ++c) {
        float* dscores = head_.scores() + c * layout_.slots();
        dscores[first_slots_[k]] += dscores[slot];
      }
    }
}

void TreeLstmLimit::forward(bool keep) {
  Preparing inner = layout_.preparing();
  Preparing leaves;
  leaves.add(distinct_.size());
  if (!keep) {
    inner.add_forever();
    leaves.add_forever();
  }
  node_.prepare_forward(inner, watch());
  leaf_.prepare_forward(leaves, watch());
  leaves_forward(keep);
  for_lanes([&](std::int64_t lane, Watch& watch) {
    for (const Range level : layout_.levels(lane)) {
      node_.forward(level.size(), h_.data() + 2 * level.begin * hidden_, gates_.data() + level.begin * node_.outputs(),
                    /*accumulate=*/false, watch);
      tree_lstm_forward(inner_, level.begin, level.end, keep);
      watch.lap(Part::kLoops);
    }
  });
}

double TreeLstmLimit::losses(float scale) {
  head_.multiply(layout_.slots(), h_.data(), watch());
  losses_.assign(static_cast<std::size_t>(lanes()), 0);
  for_rows(layout_.slots(), [&](std::int64_t lane, Watch& watch, std::int64_t begin, std::int64_t end) {
    losses_[static_cast<std::size_t>(lane)] = head_.losses(begin, end, layout_.labels().data(), scale);
    watch.lap(Part::kLoops);
  });
  double sum = 0;
  for (const double loss : losses_) sum += loss;
  return sum;
}

void TreeLstmLimit::inner_backward() {
  inner_.head = leaves_.head = head_.transposed();
  inner_.dscores = leaves_.dscores = head_.scores();
  node_bias_.clear(lanes());
  leaf_bias_.clear(lanes());
  std::fill_n(dh_.data() + layout_.first_root() * hidden_, layout_.roots() * hidden_, 0.0F);
  std::fill_n(dc_.data() + layout_.first_root() * hidden_, layout_.roots() * hidden_, 0.0F);
  for_lanes([&](std::int64_t lane, Watch& watch) {
    const std::span<const Range> levels = layout_.levels(lane);
    for (std::size_t l = levels.size(); l-- > 0;) {
      const Range level = levels[l];
      tree_lstm_backward(inner_, level.begin, level.end, node_bias_.of_lane(lane));
      watch.lap(Part::kLoops);
      node_.backward(level.size(), gates_.data() + level.begin * node_.outputs(),
                     dh_.data() + 2 * level.begin * hidden_, /*accumulate=*/false, watch);
    }
  });
}

void TreeLstmLimit::leaves_backward() {
  for_rows(distinct_.size(), [&](std::int64_t lane, Watch& watch, std::int64_t begin, std::int64_t end) {
    if (dedupe_) join_gradients(begin, end);
    tree_lstm_leaves_backward(leaves_, begin, end, leaf_bias_.of_lane(lane));
    watch.lap(Part::kLoops);
  });
  leaf_.backward(distinct_.size(), leaf_gates_.data(), dx_.data(), /*accumulate=*/false, watch());
}

void TreeLstmLimit::add_gradients() {
  node_.add_gradient(layout_.inner(), h_.data(), gates_.data(), watch());
  leaf_.add_gradient(distinct_.size(), x_.data(), leaf_gates_.data(), watch());
  for_rows(words_.width(), [&](std::int64_t, Watch& watch, std::int64_t begin, std::int64_t end) {
    words_.add_gradients(distinct_.rows(), dx_.data(), begin, end);
    watch.lap(Part::kUpdate);
  });
  node_bias_.add();
  leaf_bias_.add();
  watch().lap(Part::kUpdate);
}

double TreeLstmLimit::differentiate(std::span<const std::int32_t> batch, float scale) {
  lay_out(batch);
  make_room(/*training=*/true);
  watch().lap(Part::kLayout);
  forward(/*keep=*/true);
  const double loss = losses(scale);
  head_.add_gradient(h_.data(), watch());
  Preparing leaves;
  leaves.add(distinct_.size());
  node_.prepare_backward(layout_.preparing(), watch());
  leaf_.prepare_backward(leaves, watch());
  inner_backward();
  leaves_backward();
  add_gradients();
  return loss;
}

double TreeLstmLimit::evaluate(std::span<const std::int32_t> batch) {
  lay_out(batch);
  make_room(/*training=*/false);
  watch().lap(Part::kLayout);
  forward(/*keep=*/false);
  head_.multiply(layout_.roots(), h_.data() + layout_.first_root() * hidden_, watch());
  const double sum = head_.sum_of_scores();
  watch().lap(Part::kLoops);
  return sum;
}

}  // namespace espalier::bench
