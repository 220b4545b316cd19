#include "espalier/train/weight_average.h"

#include <algorithm>
#include <span>

#include "espalier/base/threads.h"

namespace espalier::train {
namespace {

constexpr std::int64_t kAverageGrain = 1 << 15;

template <class T>
void average(std::span<T> averages, std::span<const T> weights, double keep) {
  const T kept = static_cast<T>(keep);
  const T taken = static_cast<T>(1 - keep);
  parallel_for(std::ssize(averages), kAverageGrain, [&](std::int64_t begin, std::int64_t end) {
    T* const to = averages.data();
    const T* const from = weights.data();
    for (std::int64_t i = begin; i < end; ++i) to[i] = kept * to[i] + taken * from[i];
  });
}

template <class F>
void visit(DType dtype, const F& f) {
  if (dtype == DType::kFloat64)
    f(double{});
  else
    f(float{});
}

}  // namespace

WeightAverage::WeightAverage(Model& model, double decay) : model_(model), decay_(decay) {
  if (!is_on()) return;
  for (const Parameter* parameter : model.parameters()) averages_.push_back(parameter->value());
}

void WeightAverage::update(std::int64_t updates) {
  if (!is_on()) return;
  const auto t = static_cast<double>(updates);
  const double keep = std::min(decay_, (1 + t) / (10 + t));
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    const Tensor& weights = model_.parameters()[i]->value();
    visit(weights.dtype(), [&]<class T>(T) { average<T>(averages_[i].as<T>(), weights.as<T>(), keep); });
  }
}

void WeightAverage::swap() {
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    Tensor& weights = model_.parameters()[i]->mutable_value();
    std::swap_ranges(weights.data(), weights.data() + weights.bytes(), averages_[i].data());
  }
}

}  // namespace espalier::train
