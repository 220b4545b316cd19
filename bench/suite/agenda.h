/// What a run of the benchmark measures: workloads at sizes, and for each the settings.
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

/// Refuses names and numbers that do not exist.
std::vector<AgendaEntry> make_agenda(const SuiteOptions& options);

/// The variants to be compared in a workload: limits first, each with runners of their own.
std::vector<Contender> make_contenders(const SuiteOptions& options, const Workload& workload);

}  // namespace espalier::bench
