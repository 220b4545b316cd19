/// Measures spans of time; does nothing, and reads no clock, unless told to.
#pragma once

#include <chrono>

namespace espalier::exec {

class Stopwatch {
 public:
  explicit Stopwatch(bool runs = true) : runs_(runs) {
    if (runs_) start_ = Clock::now();
  }
  /// Adds the time since it was made, or since the last lap, to `seconds`.
  void lap(double& seconds) {
    if (!runs_) return;
    const Clock::time_point now = Clock::now();
    seconds += std::chrono::duration<double>(now - start_).count();
    start_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool runs_;
  Clock::time_point start_;
};

}  // namespace espalier::exec
