/// Trace: what the process did when, as spans of time. For timelines and trace viewers.
///
///   esp::Trace trace;                        // from here on every graph of the process is timed
///   loss.backward();
///   esp::write_trace(trace, "run.json");     // show/trace_file.h: for Perfetto and chrome://tracing
///
/// While there is none, nothing reads a clock: code that could be timed asks one atomic flag per run or step.
///
/// Thread safety: spans may be added from any thread. One thread makes, reads and destroys the Trace.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"

namespace espalier {

/// What a span of time went into. Spans of one thread are nested: a call holds collecting to backward, and these hold
/// the rest.
enum class Doing : std::int32_t {
  kRecording,   // the caller's code, from the first node recorded to the call that runs the graph
  kCall,        // value(), backward(), finish(): the caller waits
  kCollecting,  // finding what is to run
  kScheduling,  // choosing which nodes run together
  kPlanning,    // placing rows in memory, or finding a known plan
  kForward,     // all steps of a run
  kBackward,    // all steps of a backward pass
  kCopying,     // bringing the operands of a step side by side
  kKernel,      // the kernel of a step
  kBackwardKernel,
  kWeights,  // the gradients of weights, over all steps that used them
  kUpdate,   // of the weights, by the optimizer
  kMemory,   // no span: a moment, with the bytes in use
};
/// "recording", "waiting for values", ..., "memory".
ESPALIER_EXPORT std::string_view name_of(Doing doing);
inline constexpr std::size_t kDoings = 13;

struct TimeSpan {
  Doing doing = Doing::kRecording;
  std::int32_t thread = 0;  // numbered from 0 on, by their first span
  std::int64_t begin = 0;   // nanoseconds since the Trace was made
  std::int64_t end = 0;
  std::int32_t name = -1;   // in Trace::names(): the op of a step, the function of a call
  std::int32_t step = -1;   // of its run
  std::int64_t run = -1;    // of its graph, as Statistics::runs counts them; the first is 0
  std::uint64_t graph = 0;  // differs between graphs, and between what a graph recorded before and after clear()
  std::int64_t amount = 0;  // rows of a step, bytes of kMemory
};

class ESPALIER_EXPORT Trace {
 public:
  /// Spans after so many are counted and dropped.
  static constexpr std::size_t kMostSpans = 1'000'000;

  /// Refuses (UsageError) a second one at a time.
  explicit Trace(std::size_t most_spans = kMostSpans);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// No span is added afterwards; those so far stay.
  void stop();
  /// In the order in which they ended.
  std::vector<TimeSpan> spans() const;
  std::vector<std::string> names() const;
  std::int64_t dropped() const;

  static bool is_on() { return on.load(std::memory_order_relaxed); }
  /// Nanoseconds of the clock that add() takes.
  static std::int64_t now();
  /// `span` in nanoseconds of now(). Does nothing if there is no Trace.
  static void add(TimeSpan span, std::string_view name);

 private:
  static std::atomic<bool> on;
};

/// A span from here to the end of the block, or to stop(). Without a Trace it writes one byte.
class SpanTimer {
 public:
  /// `make` gives the span without its times; it is called if `on`.
  template <class Make>
  SpanTimer(bool on, const Make& make, std::string_view name = {}) {
    if (!on) [[likely]]
      return;
    open_.emplace(Open{make(), name});
    open_->span.begin = Trace::now();
  }
  ~SpanTimer() { stop(); }
  SpanTimer(const SpanTimer&) = delete;
  SpanTimer& operator=(const SpanTimer&) = delete;
  void stop() {
    if (!open_) [[likely]]
      return;
    open_->span.end = Trace::now();
    Trace::add(open_->span, open_->name);
    open_.reset();
  }

 private:
  struct Open {
    TimeSpan span;
    std::string_view name;
  };
  std::optional<Open> open_;
};

}  // namespace espalier
