/// Times: where the time of one graph went, from a Trace.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "espalier/base/trace.h"
#include "espalier/exec/batches.h"
#include "espalier/graph/graph.h"

namespace espalier::show {

/// A part of the whole time. The parts do not overlap and add up to the whole.
struct TimePart {
  std::string_view name;  // "recording", "kernels", ...
  std::string_view note;  // what that is
  Doing doing = Doing::kCall;
  double seconds = 0;
};

struct Times {
  bool known = false;  // the Trace has spans of this graph
  double seconds = 0;  // recording and calls
  std::vector<TimePart> parts;
  std::vector<double> forward;   // seconds by step, in the order of Batches::steps: kernel and copying
  std::vector<double> backward;  // likewise
  std::vector<TimeSpan> spans;   // of this graph, by their beginning
  std::vector<std::string> names;

  double of(Doing doing) const {
    for (const TimePart& part : parts)
      if (part.doing == doing) return part.seconds;
    return 0;
  }
};

/// `trace` may be null.
Times read_times(const Graph& graph, const Batches& batches, const Trace* trace);

}  // namespace espalier::show
