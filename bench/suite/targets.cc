#include "bench/suite/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

namespace espalier::bench {
namespace {

/// Which records a target is about. Its text names every restriction, so that a demand cannot leave out records
/// without saying so.
struct Scope {
  std::vector<std::string_view> workloads{};  // none: all
  Variant variant = Variant::kCells;
  std::int32_t least_batch = 1;
  std::int32_t most_batch = kAny;
  std::int32_t least_hidden = 0;
  std::int32_t most_hidden = kAny;
  std::optional<Mode> mode{};
  std::int32_t least_threads = 1;
  std::vector<std::string_view> without{};

  static constexpr std::int32_t kAny = std::numeric_limits<std::int32_t>::max();

  bool has(const Record& record) const {
    const std::int32_t hidden = hidden_of(record);
    const auto is_of = [&](std::string_view name) { return record.workload == name; };
    return (workloads.empty() || std::any_of(workloads.begin(), workloads.end(), is_of)) &&
           std::none_of(without.begin(), without.end(), is_of) && record.variant == variant &&
           record.batch >= least_batch && record.batch <= most_batch && hidden >= least_hidden &&
           hidden <= most_hidden && (!mode || record.mode == *mode) && record.threads >= least_threads;
  }

  std::string text() const {
    std::string text;
    if (!workloads.empty()) text += fmt::format("{}, ", fmt::join(workloads, " and "));
    text += fmt::format("{}{}{}", name_of(variant), range_text("batch size", least_batch, 1, most_batch),
                        range_text("hidden size", least_hidden, 0, most_hidden));
    if (mode) text += *mode == Mode::kTrain ? ", training" : ", inference";
    if (least_threads > 1) text += fmt::format(", {} threads or more", least_threads);
    if (!without.empty()) text += fmt::format(", without {}", fmt::join(without, " and "));
    return text;
  }

  /// The last number of "300/150": all workloads give their hidden size there.
  static std::int32_t hidden_of(const Record& record) {
    return std::atoi(record.sizes.substr(record.sizes.rfind('/') + 1).c_str());
  }

 private:
  static std::string range_text(std::string_view name, std::int32_t least, std::int32_t lowest, std::int32_t most) {
    if (least == most) return fmt::format(", {} {}", name, least);
    std::string text;
    if (least > lowest) text += fmt::format(", {} {} or more", name, least);
    if (most < kAny) text += fmt::format(", {} {} or less", name, most);
    return text;
  }
};

std::string describe(const Record& record) {
  return fmt::format("{} {} {}, {} instance{}, {} thread{}, leaves {}", record.workload, record.sizes,
                     name_of(record.mode), record.batch, record.batch == 1 ? "" : "s", record.threads,
                     record.threads == 1 ? "" : "s", name_of(record.leaves));
}

using FigureOf = std::function<std::optional<double>(const Record&)>;
using Partner = std::function<bool(const Record&, const Record&)>;

/// A target on one figure of each record in the scope that has it.
Target on_records(std::string_view what, double bound, bool at_least, const Scope& scope, const FigureOf& value) {
  return {fmt::format("{}: {}", what, scope.text()), bound, at_least, [=](const Records& records) {
            std::vector<Figure> figures;
            for (const Record& record : records)
              if (const auto number = scope.has(record) ? value(record) : std::nullopt)
                figures.push_back({*number, describe(record)});
            return figures;
          }};
}

/// A target on the ratio of a figure of each record in the scope to that of its partners.
Target on_pairs(std::string_view what, double bound, bool at_least, const Scope& scope, const Partner& partner,
                const FigureOf& value) {
  return {fmt::format("{}: {}", what, scope.text()), bound, at_least, [=](const Records& records) {
            std::vector<Figure> figures;
            for (const Record& record : records) {
              const auto number = scope.has(record) ? value(record) : std::nullopt;
              if (!number) continue;
              for (const Record& other : records)
                if (const auto base = partner(record, other) ? value(other) : std::nullopt)
                  figures.push_back({*number / *base, describe(record)});
            }
            return figures;
          }};
}

Target of_limit(double bound, const Scope& scope) {
  return on_records(fmt::format("{:.2f} of the limit's speed", bound), bound, true, scope,
                    [](const Record& r) { return r.ratio_to_limit; });
}

/// Per node over the limit.
Target over_limit(double bound, const Scope& scope) {
  return on_records(fmt::format("at most {:.0f} ns per node over the limit", bound), bound, false, scope,
                    [](const Record& r) { return r.over_limit_ns; });
}

bool same_but_sizes(const Record& a, const Record& b) {
  return a.workload == b.workload && a.mode == b.mode && a.variant == b.variant && a.leaves == b.leaves;
}

/// A batch of one tree mixes no shapes.
Target mixed_shapes() {
  const auto shape = [](const Record& record, std::string_view name) { return record.sizes.starts_with(name); };
  return on_pairs(
      "Fold's table: trees of mixed shapes take at most 1.05 times as long as trees of one shape", 1.05, false,
      {.workloads = {"B0"}, .least_batch = 2},
      [=](const Record& mixed, const Record& equal) {
        return same_but_sizes(mixed, equal) && mixed.batch == equal.batch && mixed.threads == equal.threads &&
               shape(mixed, "random/") && shape(equal, "same/") && Scope::hidden_of(mixed) == Scope::hidden_of(equal);
      },
      [](const Record& r) { return r.node_seconds(); });
}

/// The gain from more threads, over the limit's gain: the ratio to the limit with many, over that with one.
Target thread_gain(Variant variant) {
  return on_pairs(
      "0.9 of the limit's gain from threads", 0.9, true,
      {.variant = variant, .least_batch = 16, .least_hidden = 64, .least_threads = 2, .without = {"B10"}},
      [](const Record& many, const Record& one) {
        return same_but_sizes(many, one) && many.sizes == one.sizes && many.batch == one.batch && one.threads == 1;
      },
      [](const Record& r) { return r.ratio_to_limit; });
}

Target large_over_64(std::string_view what, double bound, const FigureOf& value) {
  constexpr std::int32_t kLarge = 4096;
  return on_pairs(
      what, bound, false, {.least_batch = kLarge, .most_batch = kLarge},
      [](const Record& large, const Record& small) {
        return same_but_sizes(large, small) && large.sizes == small.sizes && large.threads == small.threads &&
               small.batch == 64;
      },
      value);
}

std::vector<Target> make_targets() {
  return {
      of_limit(0.90, {.variant = Variant::kCells, .least_batch = 16, .least_hidden = 64, .without = {"B10"}}),
      of_limit(0.90, {.variant = Variant::kRecursion, .least_batch = 16, .least_hidden = 64}),
      of_limit(0.80, {.variant = Variant::kCells, .most_batch = 1, .least_hidden = 64, .without = {"B10"}}),
      of_limit(0.80, {.variant = Variant::kRecursion, .most_batch = 1, .least_hidden = 64}),
      over_limit(150, {.workloads = {"B7"}, .variant = Variant::kCells, .least_hidden = 32, .most_hidden = 32}),
      over_limit(150, {.workloads = {"B7"}, .variant = Variant::kRecursion, .least_hidden = 32, .most_hidden = 32}),
      of_limit(0.70, {.workloads = {"B1"}, .variant = Variant::kPlain}),
      of_limit(0.85, {.workloads = {"B10"}, .variant = Variant::kCells, .least_batch = 16}),
      on_records("recording, scheduling and planning take at most 0.08 of the time", 0.08, false,
                 {.workloads = {"B1", "B5"}, .least_hidden = 128, .mode = Mode::kTrain},
                 [](const Record& r) { return r.overhead(); }),
      on_records(
          "Fold's table: at most 1.10 times the limit's time, all tree shapes", 1.10, false, {.workloads = {"B0"}},
          [](const Record& r) { return r.ratio_of_medians ? std::optional(1 / *r.ratio_of_medians) : std::nullopt; }),
      mixed_shapes(),
      on_records("products run at 0.85 of their speed alone, at 300/150 with one thread", 0.85, true,
                 {.workloads = {"B1"}, .least_batch = 64, .most_batch = 64, .mode = Mode::kTrain},
                 [](const Record& r) {
                   const bool judged =
                       r.products && products_are_judged(r.workload, r.sizes, r.batch, r.mode, r.threads);
                   return judged ? std::optional(r.products->ratio()) : std::nullopt;
                 }),
      thread_gain(Variant::kCells),
      thread_gain(Variant::kRecursion),
      large_over_64("time per node within 1.25 times that at batch size 64", 1.25,
                    [](const Record& r) { return r.node_seconds(); }),
      large_over_64("bytes per instance within 1.05 times those at batch size 64", 1.05,
                    [](const Record& r) { return static_cast<double>(r.peak_bytes) / r.batch; }),
  };
}

}  // namespace

std::span<const Target> targets() {
  static const std::vector<Target> all = make_targets();
  return all;
}

bool products_are_judged(std::string_view workload, std::string_view sizes, std::int32_t batch, Mode mode,
                         std::int32_t threads) {
  return workload == "B1" && sizes == "300/150" && batch == 64 && mode == Mode::kTrain && threads == 1;
}

Verdict judge(const Target& target, const Records& records) {
  const std::vector<Figure> figures = target.figures(records);
  if (figures.empty()) return {Verdict::Kind::kNotMeasured, ""};
  const auto worse = [&](const Figure& a, const Figure& b) {
    return target.at_least ? a.value < b.value : a.value > b.value;
  };
  const auto misses = [&](const Figure& figure) {
    return target.at_least ? figure.value < target.bound : figure.value > target.bound;
  };
  const Figure& worst = *std::min_element(figures.begin(), figures.end(), worse);
  const auto missed = std::count_if(figures.begin(), figures.end(), misses);
  std::string text = fmt::format("{} {:.4g} ({})", target.at_least ? "least" : "most", worst.value, worst.of);
  if (missed > 0) text += fmt::format("; {} of {} miss it", missed, figures.size());
  return {missed == 0 ? Verdict::Kind::kMet : Verdict::Kind::kMissed, text};
}

std::string targets_text(const Records& records) {
  std::string text =
      "\nWhat it is to show (ratios to the limit: the median of the ratios within rounds, column `by round`)\n";
  for (const Target& target : targets()) {
    const Verdict verdict = judge(target, records);
    const std::string_view word = verdict.kind == Verdict::Kind::kMet      ? "met"
                                  : verdict.kind == Verdict::Kind::kMissed ? "not met"
                                                                           : "not measured";
    text += fmt::format("  {:<13} {}\n", word, target.demand);
    if (!verdict.text.empty()) text += fmt::format("  {:<13} {}\n", "", verdict.text);
  }
  return text;
}

}  // namespace espalier::bench
