#include "espalier/optim/sgd.h"

#include <limits>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/kernels/rows.h"

namespace espalier::optim {
namespace {

template <class T>
void apply(const Range<T>& range, const SgdOptions& options) {
  const auto rate = static_cast<T>(range.learning_rate);
  const auto momentum = static_cast<T>(options.momentum);
  const auto decay = static_cast<T>(options.weight_decay);
  T* const value = range.value;
  const T* const gradient = range.gradient;
  T* const v = range.slots[0];
  if (v == nullptr) {
    for (std::int64_t i = 0; i < range.size; ++i) value[i] -= rate * (gradient[i] + decay * value[i]);
  } else if (!options.nesterov) {
    for (std::int64_t i = 0; i < range.size; ++i) {
      v[i] = momentum * v[i] + (gradient[i] + decay * value[i]);
      value[i] -= rate * v[i];
    }
  } else {
    for (std::int64_t i = 0; i < range.size; ++i) {
      const T g = gradient[i] + decay * value[i];
      v[i] = momentum * v[i] + g;
      value[i] -= rate * (g + momentum * v[i]);
    }
  }
}

}  // namespace

Sgd::Sgd(Model& model, const SgdOptions& options)
    : Optimizer(model, "sgd", options.momentum > 0 ? std::vector<std::string>{"v"} : std::vector<std::string>{},
                options.learning_rate, options.clip_norm),
      options_(options) {
  require_option("momentum", options.momentum, 0, 1);
  require_option("weight_decay", options.weight_decay, 0, std::numeric_limits<double>::max());
  if (options.nesterov && !(options.momentum > 0)) throw UsageError("sgd: nesterov needs a momentum above 0");
}

void Sgd::update(const Range<float>& range) const {
  const auto size = static_cast<std::size_t>(range.size);
  if (range.slots[0] == nullptr && options_.weight_decay == 0)
    kernels::add_scaled(-static_cast<float>(range.learning_rate), {range.gradient, size}, {range.value, size});
  else
    apply(range, options_);
}
void Sgd::update(const Range<double>& range) const { apply(range, options_); }

}  // namespace espalier::optim
