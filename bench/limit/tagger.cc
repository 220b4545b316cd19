#include "bench/limit/tagger.h"

#include <cstddef>
#include <numeric>
#include <utility>

#include "bench/limit/map_loops.h"

namespace espalier::bench {

TaggerLimit::TaggerLimit(std::shared_ptr<const DataSet<TaggedSentence>> data, const Model& model, bool dedupe)
    : LimitRunner(model),
      data_(std::move(data)),
      dedupe_(dedupe),
      words_(weights_["words.table"]),
      forward_(weights_, "lstm.forward"),
      backward_(weights_, "lstm.backward"),
      middle_(weights_["middle.W"], &weights_["middle.b"]),
      middle_bias_(weights_["middle.b"]),
      head_(weights_["classify.W"], weights_["classify.b"]),
      hidden_(forward_.hidden()),
      distinct_(words_.rows()) {}

void TaggerLimit::lay_out(std::span<const std::int32_t> batch) {
  layout_.assign(data_->instances, batch);
  const auto rows = static_cast<std::size_t>(layout_.rows());
  if (all_rows_.size() < rows) {
    all_rows_.resize(rows);
    std::iota(all_rows_.begin(), all_rows_.end(), 0);
  }
  forward_rows_ = {&layout_, layout_.words_forward(), {}, std::span(all_rows_).first(rows)};
  backward_rows_ = {&layout_, layout_.words_backward(), {}, layout_.token_rows()};
  if (dedupe_) {
    distinct_.assign(layout_.words_forward(), /*merge=*/true);
    backward_uses_.resize(rows);
    for (std::size_t r = 0; r < rows; ++r)
      backward_uses_[r] = distinct_.of_use()[static_cast<std::size_t>(layout_.token_rows()[r])];
    forward_rows_.inputs = backward_rows_.inputs = distinct_.rows();
    forward_rows_.input_row = distinct_.of_use();
    backward_rows_.input_row = backward_uses_;
  }
  y_.room(layout_.rows() * 2 * hidden_);
  dy_.room(layout_.rows() * 2 * hidden_);
  middle_values_.room(layout_.rows() * middle_.outputs());
  middle_gradients_.room(layout_.rows() * middle_.outputs());
  watch().lap(Part::kLayout);
}

template <class F>
void TaggerLimit::for_directions(const F& fn) {
  for_lanes([&](std::int64_t lane, Watch& watch) {
    if (lane == 0) fn(forward_, forward_rows_, std::int64_t{0}, watch);
    if (lane == 1 || lanes() == 1) fn(backward_, backward_rows_, hidden_, watch);
  });
}

void TaggerLimit::forward(bool keep) {
  for_directions([&](LstmDirection& direction, const DirectionRows& rows, std::int64_t column, Watch& watch) {
    direction.forward(rows, words_, keep, y_.data() + column, 2 * hidden_, watch);
  });
  Preparing all;
  all.add(layout_.rows());
  if (!keep) all.add_forever();
  middle_.prepare_forward(all, watch());
  middle_.forward(layout_.rows(), y_.data(), middle_values_.data(), /*accumulate=*/false, watch());
  for_rows(layout_.rows(), [&](std::int64_t, Watch& watch, std::int64_t begin, std::int64_t end) {
    tanh_rows(end - begin, middle_.outputs(), middle_values_.data() + begin * middle_.outputs());
    watch.lap(Part::kLoops);
  });
  head_.multiply(layout_.rows(), middle_values_.data(), watch());
}

double TaggerLimit::losses(float scale) {
  losses_.assign(static_cast<std::size_t>(lanes()), 0);
  for_rows(layout_.rows(), [&](std::int64_t lane, Watch& watch, std::int64_t begin, std::int64_t end) {
    losses_[static_cast<std::size_t>(lane)] = head_.losses(begin, end, layout_.tags().data(), scale);
    watch.lap(Part::kLoops);
  });
  return std::accumulate(losses_.begin(), losses_.end(), 0.0);
}

void TaggerLimit::backward() {
  const std::int64_t width = middle_.outputs();
  head_.backward(middle_gradients_.data(), watch());
  head_.add_gradient(middle_values_.data(), watch());
  middle_bias_.clear(lanes());
  for_rows(layout_.rows(), [&](std::int64_t lane, Watch& watch, std::int64_t begin, std::int64_t end) {
    tanh_rows_backward(end - begin, width, middle_values_.data() + begin * width,
                       middle_gradients_.data() + begin * width, middle_bias_.of_lane(lane));
    watch.lap(Part::kLoops);
  });
  Preparing all;
  all.add(layout_.rows());
  middle_.prepare_backward(all, watch());
  middle_.backward(layout_.rows(), middle_gradients_.data(), dy_.data(), /*accumulate=*/false, watch());
  middle_.add_gradient(layout_.rows(), y_.data(), middle_gradients_.data(), watch());
  middle_bias_.add();
  for_directions([&](LstmDirection& direction, const DirectionRows&, std::int64_t column, Watch& watch) {
    direction.backward(dy_.data() + column, 2 * hidden_, watch);
  });
  for_rows(words_.width(), [&](std::int64_t, Watch& watch, std::int64_t begin, std::int64_t end) {
    words_.add_gradients(forward_rows_.inputs, forward_.input_gradients(), begin, end);
    words_.add_gradients(backward_rows_.inputs, backward_.input_gradients(), begin, end);
    watch.lap(Part::kUpdate);
  });
}

double TaggerLimit::differentiate(std::span<const std::int32_t> batch, float scale) {
  lay_out(batch);
  forward(/*keep=*/true);
  const double loss = losses(scale);
  backward();
  return loss;
}

double TaggerLimit::evaluate(std::span<const std::int32_t> batch) {
  lay_out(batch);
  forward(/*keep=*/false);
  const double sum = head_.sum_of_scores();
  watch().lap(Part::kLoops);
  return sum;
}

}  // namespace espalier::bench
