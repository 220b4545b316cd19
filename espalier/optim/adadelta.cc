#include "espalier/optim/adadelta.h"

#include <cmath>
#include <limits>

namespace espalier::optim {
namespace {

template <class T>
void apply(const Range<T>& range, const AdadeltaOptions& options) {
  const auto rate = static_cast<T>(range.learning_rate);
  const auto keep = static_cast<T>(options.decay);
  const auto take = static_cast<T>(1 - options.decay);
  const auto epsilon = static_cast<T>(options.epsilon);
  const auto decay = static_cast<T>(options.weight_decay);
  T* const value = range.value;
  T* const s = range.slots[0];
  T* const u = range.slots[1];
  for (std::int64_t i = 0; i < range.size; ++i) {
    const T g = range.gradient[i] + decay * value[i];
    s[i] = keep * s[i] + take * (g * g);
    const T d = std::sqrt((u[i] + epsilon) / (s[i] + epsilon)) * g;
    u[i] = keep * u[i] + take * (d * d);
    value[i] -= rate * d;
  }
}

}  // namespace

Adadelta::Adadelta(Model& model, const AdadeltaOptions& options)
    : Optimizer(model, "adadelta", {"s", "u"}, options.learning_rate, options.clip_norm), options_(options) {
  require_option("decay", options.decay, 0, 1);
  require_option("epsilon", options.epsilon, 0, std::numeric_limits<double>::max());
  require_option("weight_decay", options.weight_decay, 0, std::numeric_limits<double>::max());
}

void Adadelta::update(const Range<float>& range) const { apply(range, options_); }
void Adadelta::update(const Range<double>& range) const { apply(range, options_); }

}  // namespace espalier::optim
