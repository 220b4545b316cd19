#include "espalier/optim/rmsprop.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace espalier::optim {
namespace {

template <class T>
void apply(const Range<T>& range, const RmsPropOptions& options) {
  const auto rate = static_cast<T>(range.learning_rate);
  const auto keep = static_cast<T>(options.decay);
  const auto take = static_cast<T>(1 - options.decay);
  const auto momentum = static_cast<T>(options.momentum);
  const auto epsilon = static_cast<T>(options.epsilon);
  const auto decay = static_cast<T>(options.weight_decay);
  T* const value = range.value;
  T* const s = range.slots[0];
  T* const v = range.slots[1];
  if (v == nullptr) {
    for (std::int64_t i = 0; i < range.size; ++i) {
      const T g = range.gradient[i] + decay * value[i];
      s[i] = keep * s[i] + take * (g * g);
      value[i] -= rate * (g / (std::sqrt(s[i]) + epsilon));
    }
  } else {
    for (std::int64_t i = 0; i < range.size; ++i) {
      const T g = range.gradient[i] + decay * value[i];
      s[i] = keep * s[i] + take * (g * g);
      v[i] = momentum * v[i] + g / (std::sqrt(s[i]) + epsilon);
      value[i] -= rate * v[i];
    }
  }
}

}  // namespace

RmsProp::RmsProp(Model& model, const RmsPropOptions& options)
    : Optimizer(model, "rmsprop",
                options.momentum > 0 ? std::vector<std::string>{"s", "v"} : std::vector<std::string>{"s"},
                options.learning_rate, options.clip_norm),
      options_(options) {
  require_option("decay", options.decay, 0, 1);
  require_option("momentum", options.momentum, 0, 1);
  require_option("epsilon", options.epsilon, 0, std::numeric_limits<double>::max());
  require_option("weight_decay", options.weight_decay, 0, std::numeric_limits<double>::max());
}

void RmsProp::update(const Range<float>& range) const { apply(range, options_); }
void RmsProp::update(const Range<double>& range) const { apply(range, options_); }

}  // namespace espalier::optim
