/// The clock that the benchmark reads.
#pragma once

#include <chrono>

namespace espalier::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace espalier::bench
