#include "bench/suite/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/suite/agenda.h"
#include "bench/suite/clock.h"
#include "bench/suite/measure.h"
#include "bench/suite/plot.h"
#include "bench/suite/record_json.h"
#include "bench/suite/status.h"
#include "bench/suite/summary.h"
#include "bench/suite/table.h"
#include "bench/suite/targets.h"
#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/threads.h"

namespace espalier::bench {
namespace {

// Seconds for all settings of a form together. Creating workloads and reading data is not included.
constexpr double kFullSeconds = 25 * 60;
constexpr double kShortSeconds = 130;
// No setting needs more: its rounds are done by then.
constexpr double kMostSeconds = 25;
constexpr std::int32_t kShortRounds = 9;
constexpr std::int32_t kFullRounds = 15;

class Suite {
 public:
  explicit Suite(const SuiteOptions& options) : options_(options), agenda_(make_agenda(options)) {
    for (const AgendaEntry& entry : agenda_) left_ += entry.settings.size();
    all_ = left_;
  }

  void run() {
    const int threads = thread_count();
    for (const AgendaEntry& entry : agenda_) run_entry(entry);
    set_thread_count(threads);
    status_.clear();
    print(memoisation_text(records_));
    print(fold_table_text(records_));
    print(latency_text(records_));
    print(products_text(records_));
    print(targets_text(records_));
    fmt::print("\n{} settings in {:.0f} s\n", all_, seconds_since(started_));
    if (!options_.json.empty()) {
      write_json(options_.json, records_);
      fmt::print("records: {}\n", options_.json.string());
    }
    if (!options_.plot.empty()) {
      write_plot(options_.plot, records_);
      fmt::print("plot: {}\n", options_.plot.string());
    }
  }

 private:
  void run_entry(const AgendaEntry& entry) {
    status_.show(fmt::format("{} {}: data and weights", entry.kind->name, entry.size_text));
    const std::unique_ptr<Workload> workload = entry.kind->make(entry.sizes, options_.source);
    std::vector<Contender> contenders = make_contenders(options_, *workload);
    if (contenders.empty()) throw UsageError(fmt::format("{} has none of the variants asked for", entry.kind->name));
    const Setting* last = nullptr;
    for (const Setting& setting : entry.settings) {
      status_.show(fmt::format("[{}/{}] {} {}: {}, {} instances, {} threads", all_ - left_ + 1, all_, entry.kind->name,
                               entry.size_text, name_of(setting.mode), setting.batch, setting.threads));
      const Measurement measurement = measure(*workload, contenders, setting, effort());
      status_.clear();
      if (last == nullptr || last->mode != setting.mode || last->threads != setting.threads)
        print(table_heading(entry.kind->title, measurement.records.front()));
      last = &setting;
      print(table_rows(measurement.records));
      if (!measurement.left_out.empty())
        fmt::print("{:>6} left out, for the time of a minibatch: {}\n", "", fmt::join(measurement.left_out, ", "));
      std::fflush(stdout);
      records_.insert(records_.end(), measurement.records.begin(), measurement.records.end());
      --left_;
    }
  }

  /// Time that earlier settings did not use goes to the remaining ones.
  Effort effort() const {
    Effort effort;
    effort.most_rounds = options_.short_form ? kShortRounds : kFullRounds;
    const double total = options_.short_form ? kShortSeconds : kFullSeconds;
    effort.seconds = std::clamp((total - seconds_since(started_)) / static_cast<double>(left_), 0.1, kMostSeconds);
    if (options_.seconds > 0) effort.seconds = options_.seconds;
    if (options_.rounds > 0) effort.most_rounds = effort.least_rounds = options_.rounds;
    return effort;
  }

  static void print(const std::string& text) { fmt::print("{}", text); }

  const SuiteOptions& options_;
  std::vector<AgendaEntry> agenda_;
  Clock::time_point started_ = Clock::now();
  std::size_t left_ = 0;
  std::size_t all_ = 0;
  StatusLine status_;
  Records records_;
};

}  // namespace

void run_suite(const SuiteOptions& options) {
  Suite suite(options);
  if (!options.json.empty()) ensure_writable_file(options.json);
  if (!options.plot.empty()) ensure_writable_file(options.plot);
  suite.run();
}

void print_workloads() {
  for (const WorkloadKind& kind : workload_kinds())
    fmt::print("{}  {}\n    {}: {}; minibatches of {}\n", kind.name, kind.title, kind.size_names,
               fmt::join(kind.sizes, ", "), fmt::join(kind.batches, ", "));
}

}  // namespace espalier::bench
