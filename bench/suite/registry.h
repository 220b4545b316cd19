/// The list of workloads: what each is called, how it is made, and what is measured of it unless asked otherwise.
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

/// "300/150" in parts; of B0, the shape of its trees goes first.
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
  /// Sizes after so many of them are measured with these batches instead, in less time; 0: none are.
  std::size_t main_sizes = 0;
  std::vector<std::int32_t> side_batches{};
  /// Of the short form: how many of the sizes, which batches, and whether with all threads too.
  std::size_t short_sizes = 1;
  std::vector<std::int32_t> short_batches{};
  bool short_threads = false;
  /// A further batch, at the first of the sizes, to see whether large ones cost more an instance; 0: none.
  std::int32_t large_batch = 0;
  /// Whether a minibatch takes seconds: then it comes last, and has the time that all others left.
  bool is_long = false;
  std::function<std::unique_ptr<Workload>(const Sizes& sizes, const Source& source)> make;
};

/// All, by name.
std::span<const WorkloadKind> workload_kinds();

/// Refuses a name that there is not.
const WorkloadKind& workload_kind(std::string_view name);

/// Refuses what is not of the form that the kind's `size_names` say.
Sizes parse_sizes(const WorkloadKind& kind, const std::string& text);

}  // namespace espalier::bench
