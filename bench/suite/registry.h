/// The list of workloads: their names, how to create them, and what to measure by default.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/data/sets.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

/// Where instances come from.
struct Source {
  std::filesystem::path folder;  // empty: generated
  Generate generate;
};

/// The parts of "300/150". For B0, the shape of the trees comes first.
struct Sizes {
  std::string shape;
  std::vector<std::int32_t> numbers;
};

struct WorkloadKind {
  std::string_view name;        // as in "B1"
  std::string_view title;       // as in "binary Tree-LSTM on sentiment trees"
  std::string_view size_names;  // as in "embedding/hidden"
  std::vector<std::string> sizes;
  std::vector<std::int32_t> batches;
  /// Sizes after the first so many use these batch sizes instead, to save time; 0: none do.
  std::size_t main_sizes = 0;
  std::vector<std::int32_t> side_batches{};
  /// In the short form: how many sizes, which batch sizes, and whether to measure all threads too.
  std::size_t short_sizes = 1;
  std::vector<std::int32_t> short_batches{};
  bool short_threads = false;
  /// An additional batch size at the first sizes, to see whether large batches cost more per instance; 0: none.
  std::int32_t large_batch = 0;
  /// Whether a minibatch takes seconds. Such a workload runs last and gets the time that is left.
  bool is_long = false;
  /// Whether it is also trained. Others are measured in inference only.
  bool trains = true;
  std::function<std::unique_ptr<Workload>(const Sizes& sizes, const Source& source)> make;
};

/// All workloads, in the order of their numbers.
std::span<const WorkloadKind> workload_kinds();

/// Throws UsageError for an unknown name.
const WorkloadKind& workload_kind(std::string_view name);

/// Throws UsageError if the text does not have the form of the kind's `size_names`.
Sizes parse_sizes(const WorkloadKind& kind, const std::string& text);

}  // namespace espalier::bench
