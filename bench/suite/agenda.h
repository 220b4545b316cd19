/// The list of measurements of a run: workloads, their sizes, and the settings of each.
#pragma once

#include <string>
#include <vector>

#include "bench/suite/measure.h"
#include "bench/suite/suite.h"

namespace espalier::bench {

struct AgendaEntry {
  const WorkloadKind* kind = nullptr;
  std::string size_text;
  Sizes sizes;
  std::vector<Setting> settings{};  // by threads, mode, batch
};

/// Throws UsageError for unknown names and impossible numbers.
std::vector<AgendaEntry> make_agenda(const SuiteOptions& options);

/// The variants to compare in a workload, limits first; each has its own runner.
std::vector<Contender> make_contenders(const SuiteOptions& options, const Workload& workload);

}  // namespace espalier::bench
