/// The whole benchmark: runs the requested measurements, prints tables meanwhile, and writes the records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/suite/names.h"
#include "bench/suite/registry.h"

namespace espalier::bench {

/// Empty lists mean the default of each workload.
struct SuiteOptions {
  std::vector<std::string> workloads;
  std::map<std::string, std::vector<std::string>> sizes;  // by workload
  std::vector<std::int32_t> batches;
  std::vector<Mode> modes{Mode::kTrain, Mode::kInfer};
  std::vector<std::int32_t> threads;
  std::vector<std::string> variants{"limit", "cells", "recursion", "plain", "unbatched"};
  std::vector<Leaves> leaves{Leaves::kEach, Leaves::kOnce};
  /// Time products alone in every setting with one thread, not only in the one that has a target.
  bool products = false;
  /// Ends within 3 minutes; otherwise within 30.
  bool short_form = false;
  /// Rounds per setting; 0: the default of the form.
  double seconds = 0;
  /// Most seconds per setting; 0: the default of the form.
  std::int32_t rounds = 0;
  Source source;
  std::filesystem::path json;
  std::filesystem::path plot;
};

/// Before it measures, throws for unknown names and files that cannot be written.
void run_suite(const SuiteOptions& options);

/// Prints the workloads with their sizes and batch sizes.
void print_workloads();

}  // namespace espalier::bench
