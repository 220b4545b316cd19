#include "bench/limit/lstm_direction.h"

#include <algorithm>
#include <cstddef>

#include "espalier/kernels/rows.h"

namespace espalier::bench {

/// Everything but y and the gradients that differ between the passes.
LstmStep LstmDirection::step(std::int32_t t) const {
  const SequenceLayout& layout = *rows_.layout;
  const std::int64_t size = hidden();
  const std::int64_t first = layout.first(t);
  LstmStep step;
  step.hidden = size;
  step.count = layout.count(t);
  step.next_count = t + 1 < layout.steps() ? layout.count(t + 1) : 0;
  step.gates = gates_.data() + first * 4 * size;
  if (!rows_.input_row.empty()) {
    step.projected = projected_.data();
    step.projected_row = rows_.input_row.data() + first;
  }
  step.c = c_.data() + first * size;
  if (t > 0) step.c_before = c_.data() + layout.first(t - 1) * size;
  step.tanh_c = tanh_c_.data() + first * size;
  step.h_next = h_before_.data() + layout.first(t + 1) * size;
  step.dh_next = dh_before_.data() + layout.first(t + 1) * size;
  step.dc = dc_.data();
  step.token_row = rows_.token_row.data() + first;
  return step;
}

Preparing LstmDirection::input_preparing() const {
  Preparing preparing;
  preparing.add(rows_.input_count());
  return preparing;
}

Preparing LstmDirection::recurrent_preparing() const {
  Preparing preparing;
  for (std::int32_t t = 1; t < rows_.layout->steps(); ++t) preparing.add(rows_.layout->count(t));
  return preparing;
}

void LstmDirection::forward(const DirectionRows& rows, const Table& words, bool keep, float* y, std::int64_t y_stride,
                            Watch& watch) {
  rows_ = rows;
  const SequenceLayout& layout = *rows.layout;
  const std::int64_t size = hidden();
  const bool shared = !rows.input_row.empty();
  gates_.room(layout.rows() * 4 * size);
  tanh_c_.room(layout.rows() * size);
  c_.room(layout.rows() * size);
  h_before_.room(layout.rows() * size);
  Preparing inputs = input_preparing();
  Preparing states = recurrent_preparing();
  if (!keep) {
    inputs.add_forever();
    states.add_forever();
  }
  input_.prepare_forward(inputs, watch);
  recurrent_.prepare_forward(states, watch);
  words.gather(rows.inputs, x_.room(rows.input_count() * input_.inputs()));
  watch.lap(Part::kLoops);
  input_.forward(rows.input_count(), x_.data(), shared ? projected_.room(rows.input_count() * 4 * size) : gates_.data(),
                 /*accumulate=*/false, watch);
  for (std::int32_t t = 0; t < layout.steps(); ++t) {
    LstmStep now = step(t);
    now.y = y;
    now.y_stride = y_stride;
    if (t > 0)
      recurrent_.forward(now.count, h_before_.data() + layout.first(t) * size, now.gates, /*accumulate=*/!shared,
                         watch);
    else if (shared)
      std::fill_n(now.gates, now.count * 4 * size, 0.0F);
    lstm_forward(now, keep);
    watch.lap(Part::kLoops);
  }
}

void LstmDirection::backward(const float* dy, std::int64_t dy_stride, Watch& watch) {
  const SequenceLayout& layout = *rows_.layout;
  const std::int64_t size = hidden();
  input_.prepare_backward(input_preparing(), watch);
  recurrent_.prepare_backward(recurrent_preparing(), watch);
  dh_before_.room(layout.rows() * size);
  dc_.room(layout.sentences() * size);
  dx_.room(rows_.input_count() * input_.inputs());
  bias_.clear(1);
  for (std::int32_t t = layout.steps() - 1; t >= 0; --t) {
    LstmStep now = step(t);
    now.dy = dy;
    now.y_stride = dy_stride;
    now.bias = bias_.of_lane(0);
    lstm_backward(now);
    watch.lap(Part::kLoops);
    if (t > 0)
      recurrent_.backward(now.count, now.gates, dh_before_.data() + layout.first(t) * size, /*accumulate=*/false,
                          watch);
  }
  const float* by_input = gradients_by_input();
  watch.lap(Part::kLoops);
  input_.backward(rows_.input_count(), by_input, dx_.data(), /*accumulate=*/false, watch);
  input_.add_gradient(rows_.input_count(), x_.data(), by_input, watch);
  if (layout.steps() > 1) {
    const std::int64_t second = layout.first(1);
    recurrent_.add_gradient(layout.rows() - second, h_before_.data() + second * size, gates_.data() + second * 4 * size,
                            watch);
  }
  bias_.add();
  watch.lap(Part::kUpdate);
}

const float* LstmDirection::gradients_by_input() {
  if (rows_.input_row.empty()) return gates_.data();
  const std::int64_t width = 4 * hidden();
  std::fill_n(projected_.data(), rows_.input_count() * width, 0.0F);
  kernels::scatter_add_rows(gates_.data(), width, rows_.input_row, projected_.data());
  return projected_.data();
}

}  // namespace espalier::bench
