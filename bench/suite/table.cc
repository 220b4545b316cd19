#include "bench/suite/table.h"

#include <fmt/format.h>

#include "espalier/report/numbers.h"

namespace espalier::bench {
namespace {

using report::short_bytes;
using report::short_number;
using report::short_ratio;
using report::short_time;

constexpr std::string_view kColumns =
    "{:>6} {:<10}{:<6} {:>11} {:>6} {:>6} {:>6} {:>9} {:>7} {:>7}  {:>6} {:>5} {:>5} {:>5} {:>5} "
    "{:>5}  {:>5} {:>5} {:>5}  {:>13} {:>8} {:>8}\n";

/// A share of a time in percent; of nothing, a dash.
std::string share(double part, double whole) {
  return part <= 0 || whole <= 0 ? "-" : fmt::format("{:.1f}", 100 * part / whole);
}

std::string steps_text(const Record& record) {
  if (record.steps == 0) return "-";
  return fmt::format("{:.0f}/{:.0f}{}", record.steps, record.bound, record.bound_is_exact ? "" : "+");
}

std::string row(const Record& record, bool first) {
  const Breakdown& parts = record.breakdown;
  const double whole = record.batch_seconds;
  return fmt::format(
      fmt::runtime(kColumns), first ? fmt::format("{}", record.batch) : "", name_of(record.variant),
      name_of(record.leaves), short_number(record.instances_per_second), fmt::format("{:.1f}%", 100 * record.spread),
      short_ratio(record.ratio_of_medians), short_ratio(record.ratio_to_limit), short_time(whole),
      fmt::format("{:.0f}", record.nodes),
      record.over_limit_ns && !is_limit(record.variant) ? fmt::format("{:.0f}", *record.over_limit_ns) : "-",
      share(parts.recording, whole), share(parts.scheduling, whole), share(parts.planning, whole),
      share(parts.forward, whole), share(parts.backward, whole), share(parts.update, whole),
      share(parts.products, parts.profiled), share(parts.maps, parts.profiled), share(parts.copying, parts.profiled),
      steps_text(record), record.steps == 0 ? "-" : short_bytes(record.bytes_copied),
      record.peak_bytes == 0 ? "-" : short_bytes(static_cast<double>(record.peak_bytes)));
}

}  // namespace

std::string table_heading(std::string_view title, const Record& first) {
  std::string text =
      fmt::format("\n{} {}: {}, {}, {} thread{}, {} data\n", first.workload, first.sizes, title, name_of(first.mode),
                  first.threads, first.threads == 1 ? "" : "s", first.real_data ? "real" : "generated");
  text += fmt::format(fmt::runtime(kColumns), "batch", "variant", "leaves", "instances/s", "spread", "of", "by", "time",
                      "nodes", "ns/node", "record", "sched", "plan", "fwd", "bwd", "upd", "prod", "maps", "copy",
                      "steps/bound", "copied", "peak");
  text += fmt::format(fmt::runtime(kColumns), "", "", "", "", "", "limit", "round", "a batch", "", "over", "%", "%",
                      "%", "%", "%", "%", "%", "%", "%", "", "", "");
  return text;
}

std::string table_rows(std::span<const Record> records) {
  std::string text;
  for (std::size_t i = 0; i < records.size(); ++i) text += row(records[i], i == 0);
  return text;
}

}  // namespace espalier::bench
