#include "espalier/show/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "espalier/base/at.h"
#include "espalier/base/files.h"
#include "espalier/show/json_text.h"

namespace espalier {
namespace {

/// Times of the format are in microseconds.
double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

std::string event_name(const TimeSpan& span, const std::vector<std::string>& names) {
  std::string name = span.name >= 0 ? names[at(span.name)] : std::string(name_of(span.doing));
  switch (span.doing) {
    case Doing::kCopying: return "copy for " + name;
    case Doing::kBackwardKernel: return name + " backward";
    case Doing::kWeights: return name + " weights";
    default: return name;
  }
}

void add_event(std::string& text, const TimeSpan& span, const std::vector<std::string>& names) {
  if (span.doing == Doing::kMemory) {
    text += fmt::format(
        ",\n{{\"ph\":\"C\",\"name\":\"memory of graphs, thread {0}\",\"pid\":1,\"tid\":{0},"
        "\"ts\":{1:.3f},\"args\":{{\"bytes\":{2}}}}}",
        span.thread, microseconds(span.begin), span.amount);
    return;
  }
  text += fmt::format(
      ",\n{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":1,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{",
      show::json_text(event_name(span, names)), name_of(span.doing), span.thread, microseconds(span.begin),
      microseconds(span.end - span.begin));
  std::string arguments;
  if (span.run >= 0) arguments += fmt::format("\"run\":{},", span.run);
  if (span.step >= 0) arguments += fmt::format("\"step\":{},\"nodes\":{},", span.step + 1, span.amount);
  if (!arguments.empty()) arguments.pop_back();
  text += arguments + "}}";
}

}  // namespace

std::string trace_text(const Trace& trace) {
  std::vector<TimeSpan> spans = trace.spans();
  const std::vector<std::string> names = trace.names();
  // Those that hold others come before them.
  std::stable_sort(spans.begin(), spans.end(), [](const TimeSpan& a, const TimeSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::set<std::int32_t> threads;
  for (const TimeSpan& span : spans) threads.insert(span.thread);
  std::string text =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"espalier\"}}";
  for (const std::int32_t thread : threads)
    text += fmt::format(
        ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":{0},\"args\":{{\"name\":"
        "\"thread {0}\"}}}}",
        thread);
  for (const TimeSpan& span : spans) add_event(text, span, names);
  return text + fmt::format("\n],\"otherData\":{{\"dropped\":{}}}}}\n", trace.dropped());
}

void write_trace(const Trace& trace, const std::filesystem::path& file) {
  write_file_atomically(file, trace_text(trace));
}

}  // namespace espalier
