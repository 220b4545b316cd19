#include "espalier/base/random.h"

#include <cmath>
#include <numbers>
#include <string>

#include "espalier/base/error.h"

namespace espalier {

double Random::uniform(double lo, double hi) {
  const double value = lo + (hi - lo) * uniform();
  // The sum may round up to hi.
  return value < hi || !(lo < hi) ? value : std::nextafter(hi, lo);
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u is never 0
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::int64_t Random::below(std::int64_t n) {
  if (n < 1)
    throw UsageError("a random number below " + std::to_string(n) + " was asked for; it must be below 1 or more");
  const auto count = static_cast<std::uint64_t>(n);
  // 2^64 mod n: the draws left out, so that the others are a multiple of n.
  const std::uint64_t left_out = (0 - count) % count;
  while (true) {
    const std::uint64_t hi = next();
    const std::uint64_t draw = (hi << 32) | next();
    if (draw >= left_out) return static_cast<std::int64_t>(draw % count);
  }
}

void Random::set_state(const State& state) {
  seed_ = state.seed;
  stream_ = state.stream;
  position_ = state.position;
  if (position_ % 4 != 0) refill();
}

void Random::refill() {
  const std::uint64_t block = position_ / 4;
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  block_ = philox({low(block), high(block), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
}

}  // namespace espalier
