/// What Adam and AdamW have in common. Internal.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "espalier/optim/optimizer.h"

namespace espalier::optim {

inline constexpr double kBelowOne = 1 - 1e-12;  // the averages of a beta of 1 would never leave 0

/// 1 / (1 - beta1^t) and 1 / sqrt(1 - beta2^t).
inline std::array<double, 2> adam_corrections(double beta1, double beta2, std::int64_t step) {
  const auto t = static_cast<double>(step);
  return {1 / (1 - std::pow(beta1, t)), 1 / std::sqrt(1 - std::pow(beta2, t))};
}

/// `l2` times the value is added to the gradient; the value shrinks by `shrink` times the learning rate.
template <class T>
void adam_rule(const Range<T>& range, double beta1, double beta2, double epsilon, double l2, double shrink) {
  const auto rate = static_cast<T>(range.learning_rate * range.corrections[0]);
  const auto root_factor = static_cast<T>(range.corrections[1]);
  const auto keep1 = static_cast<T>(beta1);
  const auto take1 = static_cast<T>(1 - beta1);
  const auto keep2 = static_cast<T>(beta2);
  const auto take2 = static_cast<T>(1 - beta2);
  const auto small = static_cast<T>(epsilon);
  const auto decay = static_cast<T>(l2);
  const auto shrunk = static_cast<T>(1 - range.learning_rate * shrink);
  T* const value = range.value;
  const T* const gradient = range.gradient;
  T* const m = range.slots[0];
  T* const v = range.slots[1];
  for (std::int64_t i = 0; i < range.size; ++i) {
    const T g = gradient[i] + decay * value[i];
    m[i] = keep1 * m[i] + take1 * g;
    v[i] = keep2 * v[i] + take2 * (g * g);
    value[i] = shrunk * value[i] - rate * m[i] / (std::sqrt(v[i]) * root_factor + small);
  }
}

}  // namespace espalier::optim
