/// Advice: what would make the runs of a graph faster, by the time that it could save.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/exec/batches.h"
#include "espalier/graph/graph.h"
#include "espalier/show/times.h"

namespace espalier::show {

struct Advice {
  std::string what;     // what to do, as a sentence
  std::string because;  // what was seen, with the lines of the program
  /// At most so many could be saved; negative if there are no times.
  double seconds = -1;
  std::int64_t nodes = 0;  // that it concerns
};

/// Those that could save most first; without times, those that concern most nodes.
std::vector<Advice> find_advice(const Graph& graph, const Batches& batches, const Times& times);

}  // namespace espalier::show
