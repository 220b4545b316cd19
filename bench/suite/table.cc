#include "bench/suite/table.h"

#include <fmt/format.h>

#include <cmath>

namespace espalier::bench {
namespace {

constexpr std::string_view kColumns =
    "{:>6} {:<10}{:<6} {:>11} {:>6} {:>6} {:>8} {:>7}  {:>6} {:>5} {:>5} {:>5} {:>5} "
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
      record.ratio_to_limit ? fmt::format("{:.2f}", *record.ratio_to_limit) : "-", short_time(whole),
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
  text += fmt::format(fmt::runtime(kColumns), "batch", "variant", "leaves", "instances/s", "spread", "of", "time",
                      "ns/node", "record", "sched", "plan", "fwd", "bwd", "upd", "prod", "maps", "copy", "steps/bound",
                      "copied", "peak");
  text += fmt::format(fmt::runtime(kColumns), "", "", "", "", "", "limit", "a batch", "over", "%", "%", "%", "%", "%",
                      "%", "%", "%", "%", "", "", "");
  return text;
}

std::string table_rows(std::span<const Record> records) {
  std::string text;
  for (std::size_t i = 0; i < records.size(); ++i) text += row(records[i], i == 0);
  return text;
}

std::string short_number(double number) {
  if (number >= 10'000) {
    const std::string digits = fmt::format("{:.0f}", number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
      text += digits[i];
    }
    return text;
  }
  if (number >= 1000) return fmt::format("{:.0f}", number);
  if (number >= 10) return fmt::format("{:.1f}", number);
  return fmt::format("{:.3f}", number);
}

std::string short_bytes(double bytes) {
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.1f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string short_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace espalier::bench
