#include "espalier/optim/adamw.h"

#include <cmath>
#include <limits>

#include "espalier/optim/adam_rule.h"

namespace espalier::optim {
namespace {

template <class T>
void apply(const Range<T>& range, const AdamWOptions& options) {
  adam_rule(range, options.beta1, options.beta2, options.epsilon, 0, options.weight_decay);
}

}  // namespace

AdamW::AdamW(Model& model, const AdamWOptions& options)
    : Optimizer(model, "adamw", {"m", "v"}, options.learning_rate, options.clip_norm), options_(options) {
  require_option("beta1", options.beta1, 0, kBelowOne);
  require_option("beta2", options.beta2, 0, kBelowOne);
  require_option("epsilon", options.epsilon, 0, std::numeric_limits<double>::max());
  require_option("weight_decay", options.weight_decay, 0, std::numeric_limits<double>::max());
}

std::array<double, 2> AdamW::corrections(std::int64_t step) const {
  return adam_corrections(options_.beta1, options_.beta2, step);
}

void AdamW::update(const Range<float>& range) const { apply(range, options_); }
void AdamW::update(const Range<double>& range) const { apply(range, options_); }

}  // namespace espalier::optim
