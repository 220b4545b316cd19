/// StepCounter: numbers the minibatches of a training run, so that each one draws random masks of its own.
///
/// All graphs share StepCounter::global() unless GraphOptions::counter names another. To continue a training run with
/// the masks that it would have drawn, save next() with the weights and give it to set_next().
///
/// Thread safety: any thread at any time. If several threads take numbers from one counter, their order decides who
/// gets which: give each training run a counter of its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "espalier/base/export.h"

namespace espalier {

class ESPALIER_EXPORT StepCounter {
 public:
  explicit StepCounter(std::uint64_t next = 0) : next_(next) {}

  /// Returns the number of a new minibatch.
  std::uint64_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }
  /// The number that take() will return.
  std::uint64_t next() const { return next_.load(std::memory_order_relaxed); }
  void set_next(std::uint64_t next) { next_.store(next, std::memory_order_relaxed); }

  /// One per process.
  static StepCounter& global();

 private:
  std::atomic<std::uint64_t> next_;
};

}  // namespace espalier
