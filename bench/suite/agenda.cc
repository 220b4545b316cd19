#include "bench/suite/agenda.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/suite/targets.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"

namespace espalier::bench {
namespace {

constexpr std::int32_t kMostThreads = 1024;

/// One thread, and all threads.
std::vector<std::int32_t> default_threads() {
  const std::int32_t all = thread_count();
  return all == 1 ? std::vector<std::int32_t>{1} : std::vector<std::int32_t>{1, all};
}

std::vector<const WorkloadKind*> chosen_kinds(const SuiteOptions& options) {
  std::vector<const WorkloadKind*> kinds;
  for (const bool is_long : {false, true})
    for (const WorkloadKind& kind : workload_kinds())
      if (options.workloads.empty() && kind.is_long == is_long) kinds.push_back(&kind);
  for (const std::string& name : options.workloads) kinds.push_back(&workload_kind(name));
  for (const auto& [name, sizes] : options.sizes)
    if (std::find(kinds.begin(), kinds.end(), &workload_kind(name)) == kinds.end())
      throw UsageError(fmt::format("sizes are given for {}, which is not to be measured", name));
  return kinds;
}

std::vector<std::string> sizes_of(const SuiteOptions& options, const WorkloadKind& kind) {
  if (const auto given = options.sizes.find(std::string(kind.name)); given != options.sizes.end()) return given->second;
  std::vector<std::string> sizes = kind.sizes;
  if (options.short_form) sizes.resize(std::min(sizes.size(), kind.short_sizes));
  return sizes;
}

std::vector<std::int32_t> threads_of(const SuiteOptions& options, const WorkloadKind& kind) {
  std::vector<std::int32_t> threads = options.threads.empty() ? default_threads() : options.threads;
  for (const std::int32_t count : threads)
    if (count < 1 || count > kMostThreads)
      throw UsageError(fmt::format("{} threads are asked for, but 1 to {} are possible", count, kMostThreads));
  // The short form has no time for several numbers of threads, except where a target needs them.
  if (options.short_form && options.threads.empty() && !kind.short_threads) threads.resize(1);
  return threads;
}

std::vector<std::int32_t> batches_of(const SuiteOptions& options, const WorkloadKind& kind, const std::string& size,
                                     std::int32_t threads, Mode mode) {
  if (!options.batches.empty()) return options.batches;
  if (options.short_form) return kind.short_batches;
  const auto place =
      static_cast<std::size_t>(std::find(kind.sizes.begin(), kind.sizes.end(), size) - kind.sizes.begin());
  if (kind.main_sizes > 0 && place >= kind.main_sizes && place < kind.sizes.size()) return kind.side_batches;
  std::vector<std::int32_t> batches = kind.batches;
  if (kind.large_batch > 0 && place == 0 && threads == 1 && mode == Mode::kTrain) batches.push_back(kind.large_batch);
  return batches;
}

}  // namespace

std::vector<AgendaEntry> make_agenda(const SuiteOptions& options) {
  std::vector<AgendaEntry> agenda;
  for (const WorkloadKind* kind : chosen_kinds(options)) {
    const std::vector<std::string> sizes = sizes_of(options, *kind);
    for (const std::string& size : sizes) {
      AgendaEntry& entry =
          agenda.emplace_back(AgendaEntry{.kind = kind, .size_text = size, .sizes = parse_sizes(*kind, size)});
      for (const std::int32_t threads : threads_of(options, *kind))
        for (const Mode mode : options.modes) {
          if (mode == Mode::kTrain && !kind->trains) continue;
          for (const std::int32_t batch : batches_of(options, *kind, size, threads, mode)) {
            if (batch < 1) throw UsageError(fmt::format("a minibatch of {} is asked for, but 1 is the least", batch));
            Setting& setting = entry.settings.emplace_back(Setting{.batch = batch, .mode = mode, .threads = threads});
            setting.products = options.products || products_are_judged(kind->name, size, batch, mode, threads);
          }
        }
      if (entry.settings.empty()) agenda.pop_back();  // it is not measured in these modes
    }
  }
  return agenda;
}

std::vector<Contender> make_contenders(const SuiteOptions& options, const Workload& workload) {
  const auto wanted = [&](std::string_view name) {
    return std::find(options.variants.begin(), options.variants.end(), name) != options.variants.end();
  };
  const auto leaves_wanted = [&](Leaves leaves) {
    return std::find(options.leaves.begin(), options.leaves.end(), leaves) != options.leaves.end();
  };
  std::vector<Contender> contenders;
  const auto add = [&](Variant variant, Leaves leaves) {
    if (!wanted(name_of(variant)) || !leaves_wanted(leaves)) return;
    if (is_limit(variant) && !workload.has_limit()) return;
    if (std::unique_ptr<Runner> runner = workload.make(variant, leaves))
      contenders.push_back({variant, leaves, std::move(runner)});
  };
  // Cells and recursions are measured with both settings of `leaves`; the others compute each leaf if possible.
  const Leaves usual = leaves_wanted(Leaves::kEach) ? Leaves::kEach : Leaves::kOnce;
  add(Variant::kLimit, Leaves::kEach);
  add(Variant::kLimitDedupe, Leaves::kOnce);
  add(Variant::kCells, Leaves::kEach);
  add(Variant::kCells, Leaves::kOnce);
  add(Variant::kRecursion, Leaves::kEach);
  add(Variant::kRecursion, Leaves::kOnce);
  add(Variant::kPlain, usual);
  add(Variant::kUnbatched, usual);
  return contenders;
}

}  // namespace espalier::bench
