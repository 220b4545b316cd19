/// The benchmark as a whole: runs what is asked for, prints tables while it does, and writes what was measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/suite/names.h"
#include "bench/suite/registry.h"

namespace espalier::bench {

/// Empty lists mean: what each workload has as its own.
struct SuiteOptions {
  std::vector<std::string> workloads;
  std::map<std::string, std::vector<std::string>> sizes;  // by workload
  std::vector<std::int32_t> batches;
  std::vector<Mode> modes{Mode::kTrain, Mode::kInfer};
  std::vector<std::int32_t> threads;
  std::vector<std::string> variants{"limit", "cells", "recursion", "plain", "unbatched"};
  std::vector<Leaves> leaves{Leaves::kEach, Leaves::kOnce};
  /// Time the products of every setting with one thread alone, too, and not only those that are judged.
  bool products = false;
  /// Ends within 3 minutes; else within 30.
  bool short_form = false;
  /// Of each setting; 0: what the form has.
  double seconds = 0;
  /// The most of each setting; 0: what the form has.
  std::int32_t rounds = 0;
  Source source;
  std::filesystem::path json;
  std::filesystem::path plot;
};

/// Refuses, before anything is measured, unknown names and files that cannot be written.
void run_suite(const SuiteOptions& options);

/// The workloads with their sizes and batches, on standard output.
void print_workloads();

}  // namespace espalier::bench
