#include "bench/limit/plan_net.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "bench/limit/map_loops.h"

namespace espalier::bench {
namespace {

std::string scope_of(std::int32_t kind) { return "kind" + std::to_string(kind); }

}  // namespace

PlanNetLimit::Kind::Kind(Weights& weights, std::int32_t number, std::int64_t features)
    : first(weights[scope_of(number) + ".first.W"], &weights[scope_of(number) + ".first.b"], features),
      second(weights[scope_of(number) + ".second.W"], &weights[scope_of(number) + ".second.b"]),
      first_bias(weights[scope_of(number) + ".first.b"]),
      second_bias(weights[scope_of(number) + ".second.b"]) {}

PlanNetLimit::PlanNetLimit(std::shared_ptr<const DataSet<QueryPlan>> data, const Model& model)
    : LimitRunner(model),
      data_(std::move(data)),
      features_(data_->features),
      head_(&weights_["time.W"]),
      head_bias_(&weights_["time.b"]),
      head_sums_(*head_),
      hidden_(head_->rows),
      layout_(data_->words) {
  for (std::int32_t k = 0; k < data_->words; ++k) kinds_.emplace_back(weights_, k, features_);
}

void PlanNetLimit::lay_out(std::span<const std::int32_t> batch) {
  layout_.assign(data_->instances, batch, lanes());
  std::int64_t x = 0;
  std::int64_t dx = 0;
  for (std::int32_t k = 0; k < data_->words; ++k) {
    Kind& one = kind(k);
    one.begin = layout_.first(k);
    one.end = layout_.first(k + 1);
    one.x = x;
    one.dx = dx;
    x += one.rows() * one.first.inputs();
    dx += one.rows() * one.first.variables();
  }
  const auto rows = static_cast<std::int64_t>(layout_.rows().size());
  rows_.hidden = hidden_;
  rows_.s = s_.room(rows * hidden_);
  rows_.x = x_.room(x);
  rows_.place = places_.room(rows);
  rows_.dx = dx_.room(dx);
  rows_.gradient_place = gradient_places_.room(rows);
  rows_.head = head_->values.data();
  rows_.head_bias = head_bias_->values[0];
  rows_.target = targets_.room(rows);
  rows_.dtime = dtimes_.room(rows);
  a_.room(rows * hidden_);
  da_.room(rows * hidden_);
  place_rows();
  watch().lap(Part::kLayout);
}

/// Features and targets of all rows, and where their states go.
void PlanNetLimit::place_rows() {
  for (const Kind& one : kinds_)
    for (std::int64_t r = one.begin; r < one.end; ++r) {
      const PlanLayout::Row& row = layout_.rows()[static_cast<std::size_t>(r)];
      std::copy(row.node->features.begin(), row.node->features.end(),
                x_.data() + one.x + (r - one.begin) * one.first.inputs());
      targets_[r] = row.node->target;
      if (row.parent < 0) {
        places_[r] = gradient_places_[r] = -1;
        continue;
      }
      const Kind& parent = kind(layout_.rows()[static_cast<std::size_t>(row.parent)].node->kind);
      const std::int64_t number = row.parent - parent.begin;
      places_[r] = parent.x + number * parent.first.inputs() + features_ + row.side * hidden_;
      gradient_places_[r] = parent.dx + number * parent.first.variables() + row.side * hidden_;
    }
}

void PlanNetLimit::prepare_forward(bool forever) {
  for (Kind& one : kinds_) one.preparing = Preparing();
  for (std::int64_t lane = 0; lane < lanes(); ++lane)
    for (const PlanLayout::Group& group : layout_.groups(lane)) kind(group.kind).preparing.add(group.size());
  for (Kind& one : kinds_) {
    if (one.rows() == 0) continue;
    Preparing preparing = one.preparing;
    if (forever) preparing.add_forever();
    one.first.prepare_forward(preparing, watch());
    one.second.prepare_forward(preparing, watch());
  }
}

template <class AtGroup>
double PlanNetLimit::forward(bool keep, const AtGroup& at_group) {
  prepare_forward(!keep);
  sums_.assign(static_cast<std::size_t>(lanes()), 0);
  for_lanes([&](std::int64_t lane, Watch& watch) {
    double sum = 0;
    for (const PlanLayout::Group& group : layout_.groups(lane)) {
      const Kind& one = kind(group.kind);
      float* a = a_.data() + group.begin * hidden_;
      one.first.forward(group.size(), x_.data() + one.x + (group.begin - one.begin) * one.first.inputs(), a,
                        /*accumulate=*/false, watch);
      relu_rows(group.size(), hidden_, a);
      watch.lap(Part::kLoops);
      one.second.forward(group.size(), a, s_.data() + group.begin * hidden_, /*accumulate=*/false, watch);
      sum += at_group(group.begin, group.end);
      watch.lap(Part::kLoops);
    }
    sums_[static_cast<std::size_t>(lane)] = sum;
  });
  return std::accumulate(sums_.begin(), sums_.end(), 0.0);
}

void PlanNetLimit::backward() {
  for (Kind& one : kinds_) {
    if (one.rows() == 0) continue;
    one.first_bias.clear(lanes());
    one.second_bias.clear(lanes());
    one.second.prepare_backward(one.preparing, watch());
    if (one.first.variables() > 0) one.first.prepare_backward(one.preparing, watch());
  }
  head_sums_.clear(lanes());
  for_lanes([&](std::int64_t lane, Watch& watch) {
    const std::span<const PlanLayout::Group> groups = layout_.groups(lane);
    for (std::size_t g = groups.size(); g-- > 0;) {
      const PlanLayout::Group& group = groups[g];
      const Kind& one = kind(group.kind);
      const std::int64_t at = group.begin * hidden_;
      plan_backward(rows_, group.begin, group.end, one.second_bias.of_lane(lane), head_sums_.of_lane(lane));
      watch.lap(Part::kLoops);
      one.second.backward(group.size(), s_.data() + at, da_.data() + at, /*accumulate=*/false, watch);
      relu_rows_backward(group.size(), hidden_, a_.data() + at, da_.data() + at, one.first_bias.of_lane(lane));
      watch.lap(Part::kLoops);
      if (one.first.variables() == 0) continue;
      one.first.backward(group.size(), da_.data() + at,
                         dx_.data() + one.dx + (group.begin - one.begin) * one.first.variables(), /*accumulate=*/false,
                         watch);
    }
  });
}

void PlanNetLimit::add_gradients() {
  for (Kind& one : kinds_) {
    if (one.rows() == 0) continue;
    const std::int64_t at = one.begin * hidden_;
    one.second.add_gradient(one.rows(), a_.data() + at, s_.data() + at, watch());
    one.first.add_gradient(one.rows(), x_.data() + one.x, da_.data() + at, watch());
    one.first_bias.add();
    one.second_bias.add();
    watch().lap(Part::kUpdate);
  }
  head_sums_.add();
  const auto rows = static_cast<std::int64_t>(layout_.rows().size());
  head_bias_->target()[0] += std::accumulate(dtimes_.data(), dtimes_.data() + rows, 0.0F);
  watch().lap(Part::kUpdate);
}

double PlanNetLimit::differentiate(std::span<const std::int32_t> batch, float scale) {
  lay_out(batch);
  const double loss = forward(
      /*keep=*/true, [&](std::int64_t begin, std::int64_t end) { return plan_forward(rows_, begin, end, scale); });
  backward();
  add_gradients();
  return loss;
}

double PlanNetLimit::evaluate(std::span<const std::int32_t> batch) {
  lay_out(batch);
  return forward(/*keep=*/false,
                 [&](std::int64_t begin, std::int64_t end) { return plan_forward_roots(rows_, begin, end); });
}

}  // namespace espalier::bench
