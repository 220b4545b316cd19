/// RecordingClock: the wall time in which a graph was recorded. It runs from the first node recorded after the graph
/// was made, cleared or run, to the next run. The caller's own code between these two counts; idle time outside does
/// not.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"

namespace espalier {

class ESPALIER_EXPORT RecordingClock {
 public:
  /// Does nothing if the clock runs.
  void start() {
    if (is_running_) return;
    since_ = now();
    is_running_ = true;
  }
  void stop() {
    if (!is_running_) return;
    nanoseconds_ += now() - since_;
    is_running_ = false;
  }
  void reset() {
    is_running_ = false;
    nanoseconds_ = 0;
  }
  /// Of all times it ran since reset(), without the one under way.
  double seconds() const { return static_cast<double>(nanoseconds_) * 1e-9; }

  /// Where the time comes from, in nanoseconds. Tests replace it; null is the steady clock.
  using Source = std::int64_t (*)();
  static void set_source(Source source);

 private:
  static std::int64_t now();

  std::int64_t since_ = 0;
  std::int64_t nanoseconds_ = 0;
  bool is_running_ = false;
};

}  // namespace espalier
