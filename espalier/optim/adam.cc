#include "espalier/optim/adam.h"

#include <cmath>
#include <limits>

#include "espalier/optim/adam_rule.h"

namespace espalier::optim {
namespace {

template <class T>
void apply(const Range<T>& range, const AdamOptions& options) {
  adam_rule(range, options.beta1, options.beta2, options.epsilon, options.weight_decay, 0);
}

}  // namespace

Adam::Adam(Model& model, const AdamOptions& options)
    : Optimizer(model, "adam", {"m", "v"}, options.learning_rate, options.clip_norm), options_(options) {
  require_option("beta1", options.beta1, 0, kBelowOne);
  require_option("beta2", options.beta2, 0, kBelowOne);
  require_option("epsilon", options.epsilon, 0, std::numeric_limits<double>::max());
  require_option("weight_decay", options.weight_decay, 0, std::numeric_limits<double>::max());
}

std::array<double, 2> Adam::corrections(std::int64_t step) const {
  return adam_corrections(options_.beta1, options_.beta2, step);
}

void Adam::update(const Range<float>& range) const { apply(range, options_); }
void Adam::update(const Range<double>& range) const { apply(range, options_); }

}  // namespace espalier::optim
