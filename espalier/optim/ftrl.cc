#include "espalier/optim/ftrl.h"

#include <cmath>
#include <limits>

#include "espalier/base/error.h"

namespace espalier::optim {
namespace {

template <class T>
void apply_ftrl(const Range<T>& range, const FtrlOptions& options) {
  const auto rate = static_cast<T>(range.learning_rate);
  if (rate == 0) return;  // as a limit: nothing moves
  const auto beta = static_cast<T>(options.beta);
  const auto l1 = static_cast<T>(options.l1);
  const auto l2 = static_cast<T>(options.l2);
  T* const value = range.value;
  T* const z = range.slots[0];
  T* const n = range.slots[1];
  for (std::int64_t i = 0; i < range.size; ++i) {
    const T g = range.gradient[i];
    if (z[i] == 0 && n[i] == 0 && value[i] != 0) z[i] = -value[i] * (beta / rate + l2) - std::copysign(l1, value[i]);
    const T next = n[i] + g * g;
    z[i] += g - (std::sqrt(next) - std::sqrt(n[i])) / rate * value[i];
    n[i] = next;
    value[i] = std::abs(z[i]) <= l1 ? T(0) : -(z[i] - std::copysign(l1, z[i])) / ((beta + std::sqrt(next)) / rate + l2);
  }
}

}  // namespace

Ftrl::Ftrl(Model& model, const FtrlOptions& options)
    : Optimizer(model, "ftrl", {"z", "n"}, options.learning_rate, options.clip_norm), options_(options) {
  constexpr double kMost = std::numeric_limits<double>::max();
  if (!(options.learning_rate > 0)) throw UsageError("ftrl: the learning rate must be above 0, and it is 0");
  require_option("beta", options.beta, 0, kMost);
  require_option("l1", options.l1, 0, kMost);
  require_option("l2", options.l2, 0, kMost);
}

void Ftrl::update(const Range<float>& range) const { apply_ftrl(range, options_); }
void Ftrl::update(const Range<double>& range) const { apply_ftrl(range, options_); }

}  // namespace espalier::optim
