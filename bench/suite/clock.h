/// The clock that the benchmark reads. A test puts its own in place of it.
#pragma once

#include <chrono>

namespace espalier::bench {

struct Clock {
  using time_point = std::chrono::steady_clock::time_point;
  using Source = time_point (*)();

  static time_point now() { return source(); }
  inline static Source source = &std::chrono::steady_clock::now;
};

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace espalier::bench
