#include "espalier/base/trace.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <unordered_map>

#include "espalier/base/error.h"

namespace espalier {
namespace {

/// Never destroyed: threads may end after everything else.
struct SpanLog {
  std::mutex mutex;
  bool taken = false;  // there is a Trace
  std::size_t most = 0;
  std::int64_t started = 0;
  std::int64_t dropped = 0;
  std::vector<TimeSpan> spans;
  std::vector<std::string> names;
  std::unordered_map<std::string, std::int32_t> number_of;

  static SpanLog& of_process() {
    static SpanLog* const log = new SpanLog;
    return *log;
  }

  std::int32_t number(std::string_view name) {
    if (name.empty()) return -1;
    const auto [at, is_new] = number_of.try_emplace(std::string(name), static_cast<std::int32_t>(names.size()));
    if (is_new) names.emplace_back(name);
    return at->second;
  }
};

std::int32_t number_of_thread() {
  static std::atomic<std::int32_t> next{0};
  thread_local const std::int32_t number = next.fetch_add(1);
  return number;
}

}  // namespace

std::atomic<bool> Trace::on{false};

std::string_view name_of(Doing doing) {
  static constexpr std::array<std::string_view, kDoings> kNames{
      "recording", "waiting for values", "collecting",       "scheduling", "planning", "forward", "backward", "copying",
      "kernels",   "backward kernels",   "weight gradients", "update",     "memory"};
  return kNames[static_cast<std::size_t>(doing)];
}

Trace::Trace(std::size_t most_spans) {
  SpanLog& log = SpanLog::of_process();
  const std::scoped_lock lock(log.mutex);
  if (log.taken) throw UsageError("Trace: there is another one; a process has one at a time");
  log.taken = true;
  log.most = most_spans;
  log.started = now();
  log.dropped = 0;
  on.store(true, std::memory_order_relaxed);
}

Trace::~Trace() {
  on.store(false, std::memory_order_relaxed);
  SpanLog& log = SpanLog::of_process();
  const std::scoped_lock lock(log.mutex);
  log.taken = false;
  log.spans = {};
  log.names = {};
  log.number_of = {};
}

void Trace::stop() { on.store(false, std::memory_order_relaxed); }

std::vector<TimeSpan> Trace::spans() const {
  SpanLog& log = SpanLog::of_process();
  const std::scoped_lock lock(log.mutex);
  return log.spans;
}

std::vector<std::string> Trace::names() const {
  SpanLog& log = SpanLog::of_process();
  const std::scoped_lock lock(log.mutex);
  return log.names;
}

std::int64_t Trace::dropped() const {
  SpanLog& log = SpanLog::of_process();
  const std::scoped_lock lock(log.mutex);
  return log.dropped;
}

std::int64_t Trace::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Trace::add(TimeSpan span, std::string_view name) {
  if (!is_on()) return;
  span.thread = number_of_thread();
  SpanLog& log = SpanLog::of_process();
  const std::scoped_lock lock(log.mutex);
  if (!log.taken) return;
  if (log.spans.size() >= log.most) {
    ++log.dropped;
    return;
  }
  // What began before the Trace was made counts from there on.
  span.begin = std::max<std::int64_t>(span.begin - log.started, 0);
  span.end = std::max<std::int64_t>(span.end - log.started, 0);
  span.name = log.number(name);
  log.spans.push_back(span);
}

}  // namespace espalier
