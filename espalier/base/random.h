/// Random numbers from a counter: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
/// 1, 2, 3" (SC 2011), and a sequential stream over it.
///
/// Thread safety: philox() and the conversions are pure; a Random is like an int: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "espalier/base/export.h"

namespace espalier {

/// 128 random bits, a pure function of the counter and the key.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // the golden ratio
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // the square root of 3, less 1
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

/// Uniform in [0, 1): a multiple of 2^-24.
constexpr float uniform_float(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

/// Uniform in [0, 1): a multiple of 2^-53.
constexpr double uniform_double(std::uint32_t hi, std::uint32_t lo) {
  const std::uint64_t bits = (std::uint64_t{hi} << 32) | lo;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// A sequential stream. Streams of one seed that differ in their number share nothing. Copies continue independently
/// from the same place.
class ESPALIER_EXPORT Random {
 public:
  /// All that a checkpoint has to keep.
  struct State {
    std::uint64_t seed = 0;
    std::uint64_t stream = 0;
    std::uint64_t position = 0;  // 32-bit words given so far
    bool operator==(const State&) const = default;
  };

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) { set_state({seed, stream, 0}); }

  std::uint32_t next() {
    const std::size_t lane = position_ % 4;
    if (lane == 0) refill();
    ++position_;
    return block_[lane];
  }

  /// Uniform in [0, 1).
  double uniform() {
    const std::uint32_t hi = next();
    const std::uint32_t lo = next();
    return uniform_double(hi, lo);
  }
  /// Uniform in [lo, hi).
  double uniform(double lo, double hi);
  /// Mean 0, variance 1 (Box and Muller, 1958). Takes four words, so that position alone tells where the stream is.
  double normal();
  /// Each of 0 to n - 1 with exactly the same probability. Refuses n < 1.
  std::int64_t below(std::int64_t n);

  /// Every order with the same probability (Fisher and Yates).
  template <class T>
  void shuffle(std::span<T> items) {
    using std::swap;
    for (std::size_t left = items.size(); left > 1; --left) {
      swap(items[left - 1], items[static_cast<std::size_t>(below(static_cast<std::int64_t>(left)))]);
    }
  }

  State state() const { return {seed_, stream_, position_}; }
  void set_state(const State& state);

 private:
  void refill();

  std::uint64_t seed_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t position_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

}  // namespace espalier
