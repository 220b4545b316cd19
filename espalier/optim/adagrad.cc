#include "espalier/optim/adagrad.h"

#include <cmath>
#include <limits>

namespace espalier::optim {
namespace {

template <class T>
void apply(const Range<T>& range, const AdagradOptions& options) {
  const auto rate = static_cast<T>(range.learning_rate);
  const auto epsilon = static_cast<T>(options.epsilon);
  const auto decay = static_cast<T>(options.weight_decay);
  T* const value = range.value;
  T* const s = range.slots[0];
  for (std::int64_t i = 0; i < range.size; ++i) {
    const T g = range.gradient[i] + decay * value[i];
    s[i] += g * g;
    value[i] -= rate * g / (std::sqrt(s[i]) + epsilon);
  }
}

}  // namespace

Adagrad::Adagrad(Model& model, const AdagradOptions& options)
    : Optimizer(model, "adagrad", {"s"}, options.learning_rate, options.clip_norm), options_(options) {
  require_option("epsilon", options.epsilon, 0, std::numeric_limits<double>::max());
  require_option("weight_decay", options.weight_decay, 0, std::numeric_limits<double>::max());
}

void Adagrad::update(const Range<float>& range) const { apply(range, options_); }
void Adagrad::update(const Range<double>& range) const { apply(range, options_); }

}  // namespace espalier::optim
