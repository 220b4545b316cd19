#include "espalier/graph/recording_clock.h"

#include <atomic>
#include <chrono>

namespace espalier {
namespace {

std::atomic<RecordingClock::Source>& source_of_time() {
  static std::atomic<RecordingClock::Source> source{nullptr};
  return source;
}

}  // namespace

void RecordingClock::set_source(Source source) { source_of_time().store(source); }

std::int64_t RecordingClock::now() {
  if (const Source source = source_of_time().load(std::memory_order_relaxed)) return source();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace espalier
