#include "bench/suite/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "espalier/report/numbers.h"

namespace espalier::bench {
namespace {

using report::short_number;
using report::short_time;

/// The record of a variant in the setting of another record, but at other sizes; null if there is none.
const Record* find(const Records& records, const Record& setting, std::string_view sizes, Variant variant) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const Record& record) {
    Record moved = record;
    moved.sizes = setting.sizes;
    return moved.same_setting(setting) && record.sizes == sizes && record.variant == variant &&
           record.leaves == setting.leaves;
  });
  return found == records.end() ? nullptr : &*found;
}

std::string threads_text(std::int32_t threads) { return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"); }

}  // namespace

std::string memoisation_text(const Records& records) {
  std::vector<std::pair<std::string, std::string>> lines;  // what it is of, and the gains by batch
  for (const Record& each : records) {
    if (each.variant != Variant::kCells || each.leaves != Leaves::kEach) continue;
    const auto once = std::find_if(records.begin(), records.end(), [&](const Record& other) {
      return other.variant == Variant::kCells && other.leaves == Leaves::kOnce && other.same_setting(each);
    });
    if (once == records.end()) continue;
    std::string of = fmt::format("{} {} {}, {} thread{}", each.workload, each.sizes, name_of(each.mode), each.threads,
                                 each.threads == 1 ? "" : "s");
    if (lines.empty() || lines.back().first != of) lines.emplace_back(std::move(of), "");
    lines.back().second +=
        fmt::format("  {:>5}: {:.2f}", each.batch, once->instances_per_second / each.instances_per_second);
  }
  std::string text =
      lines.empty() ? ""
                    : "\nEqual leaves computed once: how many times as fast as each for itself (cells), by batch\n";
  for (const auto& [of, gains] : lines) text += fmt::format("  {:<36}{}\n", of, gains);
  return text;
}

std::string fold_table_text(const Records& records) {
  constexpr std::string_view kMixed = "random/";
  std::string text;
  for (const Record& mixed : records) {
    if (mixed.workload != "B0" || !mixed.sizes.starts_with(kMixed) || mixed.variant != Variant::kCells ||
        mixed.leaves != Leaves::kEach)
      continue;
    const std::string same = "same/" + mixed.sizes.substr(kMixed.size());
    const Record* by_hand = find(records, mixed, same, Variant::kLimit);
    const Record* equal = find(records, mixed, same, Variant::kCells);
    if (by_hand == nullptr || equal == nullptr) continue;
    text += fmt::format("  {:<6} {:>10} {:>6} {:>12.4f} {:>12.4f} {:>12.4f} {:>12.2f} {:>12.2f} {:>10}\n",
                        name_of(mixed.mode), threads_text(mixed.threads), mixed.batch, by_hand->batch_seconds,
                        equal->batch_seconds, mixed.batch_seconds, equal->batch_seconds / by_hand->batch_seconds,
                        mixed.batch_seconds / equal->batch_seconds, short_number(mixed.instances_per_second));
  }
  if (text.empty()) return text;
  return fmt::format(
             "\nFold's table (B0), in seconds per minibatch; cost ratio: one shape / by hand; trees/s: mixed\n  {:<6} "
             "{:>10} {:>6} "
             "{:>12} {:>12} {:>12} {:>12} {:>12} "
             "{:>10}\n",
             "mode", "", "batch", "by hand", "one shape", "mixed", "cost ratio", "mixed/one", "trees/s") +
         text;
}

std::string latency_text(const Records& records) {
  std::string text;
  for (const Record& each : records) {
    const bool is_shown = each.variant == Variant::kCells || each.variant == Variant::kRecursion;
    if (each.workload != "B7" || each.mode != Mode::kInfer || !is_shown || each.leaves != Leaves::kEach) continue;
    const Record* limit = find(records, each, each.sizes, Variant::kLimit);
    text += fmt::format("  hidden {:>4}, {:>10}: {:>5} plan{:<2} {:<9} {:>10}", each.sizes, threads_text(each.threads),
                        each.batch, each.batch == 1 ? "" : "s", name_of(each.variant), short_time(each.batch_seconds));
    if (limit != nullptr)
      text += fmt::format("   limit {:>10}   {:.0f} ns per node over it, {:.1f} nodes",
                          short_time(limit->batch_seconds), each.over_limit_ns.value_or(0), each.nodes);
    text += "\n";
  }
  return text.empty() ? text : "\nLatency of estimating query plans (B7)\n" + text;
}

std::string products_text(const Records& records) {
  std::string text;
  for (const Record& record : records) {
    if (!record.products) continue;
    const ProductFigures& products = *record.products;
    const auto line = [&](std::string_view name, std::string_view calls, double gflops, double alone, double ratio,
                          double share) {
      text += fmt::format("    {:<28} {:>6} {:>8.1f} {:>8.1f} {:>7.2f} {:>8.1f} %\n", name, calls, gflops, alone, ratio,
                          100 * share);
    };
    text += fmt::format("  {} {} {}, {} instance{}, {}, {}, leaves {}\n    {:<28} {:>6} {:>8} {:>8} {:>7} {:>10}\n",
                        record.workload, record.sizes, name_of(record.mode), record.batch, record.batch == 1 ? "" : "s",
                        threads_text(record.threads), name_of(record.variant), name_of(record.leaves), "", "calls",
                        "GFLOP/s", "alone", "ratio", "of time");
    for (const ProductFigures::Kind& kind : products.kinds)
      line(kind.name, fmt::format("{:.0f}", kind.calls), kind.gflops, kind.alone, kind.gflops / kind.alone, kind.share);
    const ProductFigures::Shares& shares = products.shares;
    line("all products", "", products.gflops, products.alone, products.ratio(), shares.products);
    text += fmt::format(
        "    the rest: maps {:.1f} %, preparing weights {:.1f}, recording {:.1f}, scheduling {:.1f}, planning {:.1f}, "
        "copying {:.1f}, update {:.1f}, other {:.1f}\n",
        100 * shares.maps, 100 * shares.preparing, 100 * shares.recording, 100 * shares.scheduling,
        100 * shares.planning, 100 * shares.copying, 100 * shares.update, 100 * shares.other);
    text += fmt::format("    (left out above: {:.2f} % of the products' time, for reading the clock)\n",
                        100 * products.clock_share);
  }
  return text.empty() ? text : "\nProducts in a minibatch, against the same calls timed alone\n" + text;
}

}  // namespace espalier::bench
