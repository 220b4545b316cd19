#include "bench/suite/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace espalier::bench {
namespace {

using Chosen = std::function<bool(const Record&)>;

std::string describe(const Record& record) {
  return fmt::format("{} {} {}, {} instance{}, {} thread{}, leaves {}", record.workload, record.sizes,
                     name_of(record.mode), record.batch, record.batch == 1 ? "" : "s", record.threads,
                     record.threads == 1 ? "" : "s", name_of(record.leaves));
}

/// The last number of "300/150": all workloads give their hidden size there.
std::int32_t hidden_of(const Record& record) {
  return std::atoi(record.sizes.substr(record.sizes.rfind('/') + 1).c_str());
}

bool has_limit_target(const Record& record, Variant variant) {
  return record.ratio_to_limit && record.variant == variant && hidden_of(record) >= 64;
}

std::vector<Figure> figures_of(const Records& records, const Chosen& chosen,
                               const std::function<double(const Record&)>& value) {
  std::vector<Figure> figures;
  for (const Record& record : records)
    if (chosen(record)) figures.push_back({value(record), describe(record)});
  return figures;
}

/// Of every pair of a record that is chosen and one that `partner` finds for it.
std::vector<Figure> pairs_of(const Records& records, const Chosen& chosen,
                             const std::function<bool(const Record&, const Record&)>& partner,
                             const std::function<double(const Record&, const Record&)>& value) {
  std::vector<Figure> figures;
  for (const Record& record : records) {
    if (!chosen(record)) continue;
    for (const Record& other : records)
      if (partner(record, other)) figures.push_back({value(record, other), describe(record)});
  }
  return figures;
}

double ratio(const Record& record) { return *record.ratio_to_limit; }

std::vector<Figure> of_limit(const Records& records, Variant variant, bool single) {
  return figures_of(
      records,
      [&](const Record& r) { return has_limit_target(r, variant) && (single ? r.batch == 1 : r.batch >= 16); },  //
      ratio);
}

/// Nanoseconds a node over the limit, of query plans with the smallest states.
std::vector<Figure> over_limit(const Records& records, Variant variant) {
  return figures_of(
      records,
      [&](const Record& r) {
        return r.workload == "B7" && r.variant == variant && r.over_limit_ns && hidden_of(r) == 32;
      },
      [](const Record& r) { return *r.over_limit_ns; });
}

std::vector<Figure> mixed_shapes(const Records& records) {
  const auto shape = [](const Record& record, std::string_view name) {
    return record.workload == "B0" && record.sizes.starts_with(name);
  };
  return pairs_of(
      records, [&](const Record& r) { return r.variant == Variant::kCells && shape(r, "random/") && r.batch > 1; },
      [&](const Record& mixed, const Record& equal) {
        return shape(equal, "same/") && hidden_of(mixed) == hidden_of(equal) && mixed.batch == equal.batch &&
               mixed.mode == equal.mode && mixed.threads == equal.threads && mixed.variant == equal.variant &&
               mixed.leaves == equal.leaves;
      },
      [](const Record& mixed, const Record& equal) { return mixed.best_node_seconds / equal.best_node_seconds; });
}

bool same_but_threads(const Record& one, const Record& many) {
  return one.workload == many.workload && one.sizes == many.sizes && one.batch == many.batch && one.mode == many.mode &&
         one.threads == 1 && many.threads > 1 && one.variant == many.variant && one.leaves == many.leaves;
}

/// The gain from more threads, over the limit's gain: the ratio to the limit with many, over that with one.
std::vector<Figure> thread_gain(const Records& records, Variant variant) {
  return pairs_of(
      records, [&](const Record& r) { return has_limit_target(r, variant) && r.threads > 1 && r.batch >= 16; },
      [](const Record& many, const Record& one) { return one.ratio_to_limit && same_but_threads(one, many); },
      [](const Record& many, const Record& one) { return ratio(many) / ratio(one); });
}

std::vector<Figure> large_over_64(const Records& records, const std::function<double(const Record&)>& each) {
  constexpr std::int32_t kLarge = 4096;
  return pairs_of(
      records, [](const Record& r) { return r.variant == Variant::kCells && r.batch == kLarge; },
      [](const Record& large, const Record& small) {
        return small.batch == 64 && small.workload == large.workload && small.sizes == large.sizes &&
               small.mode == large.mode && small.threads == large.threads && small.variant == large.variant &&
               small.leaves == large.leaves;
      },
      [&](const Record& large, const Record& small) { return each(large) / each(small); });
}

std::vector<Target> make_targets() {
  return {
      {"cells at 0.90 of the limit or more, 16 instances or more, hidden size 64 or more", 0.90, true,
       [](const Records& records) { return of_limit(records, Variant::kCells, false); }},
      {"recursions at 0.90 of the limit or more, 16 instances or more, hidden size 64 or more", 0.90, true,
       [](const Records& records) { return of_limit(records, Variant::kRecursion, false); }},
      {"cells at 0.80 of the limit or more, one instance", 0.80, true,
       [](const Records& records) { return of_limit(records, Variant::kCells, true); }},
      {"recursions at 0.80 of the limit or more, one instance", 0.80, true,
       [](const Records& records) { return of_limit(records, Variant::kRecursion, true); }},
      {"B7 at hidden size 32: at most 150 ns a node over the limit", 150, false,
       [](const Records& records) { return over_limit(records, Variant::kCells); }},
      {"B7 at hidden size 32, recursions: at most 150 ns a node over the limit", 150, false,
       [](const Records& records) { return over_limit(records, Variant::kRecursion); }},
      {"B1 op by op (plain) at 0.70 of the limit or more", 0.70, true,
       [](const Records& records) {
         return figures_of(
             records,
             [](const Record& r) { return r.workload == "B1" && r.variant == Variant::kPlain && r.ratio_to_limit; },
             ratio);
       }},
      {"B1, B5 at hidden size 128 or more: recording, scheduling and planning at most 0.08 of a training step", 0.08,
       false,
       [](const Records& records) {
         return figures_of(
             records,
             [](const Record& r) {
               return (r.workload == "B1" || r.workload == "B5") && r.variant == Variant::kCells &&
                      r.mode == Mode::kTrain && hidden_of(r) >= 128;
             },
             [](const Record& r) { return r.overhead(); });
       }},
      {"Fold's table (B0): cost of dynamic over by hand at most 1.10 at every batch size", 1.10, false,
       [](const Records& records) {
         return figures_of(
             records,
             [](const Record& r) { return r.workload == "B0" && r.variant == Variant::kCells && r.ratio_to_limit; },
             [](const Record& r) { return 1 / ratio(r); });
       }},
      {"Fold's table (B0): trees of mixed shapes at most 1.05 times trees of one shape", 1.05, false, mixed_shapes},
      {"B1 300/150, 64 instances, one thread, training: products at 0.85 of the same timed alone or more", 0.85, true,
       [](const Records& records) {
         return figures_of(
             records,
             [](const Record& r) {
               return r.products && r.variant == Variant::kCells &&
                      products_are_judged(r.workload, r.sizes, r.batch, r.mode, r.threads);
             },
             [](const Record& r) { return r.products->ratio; });
       }},
      {"all threads: 0.9 of the limit's gain or more", 0.9, true,
       [](const Records& records) { return thread_gain(records, Variant::kCells); }},
      {"all threads, recursions: 0.9 of the limit's gain or more", 0.9, true,
       [](const Records& records) { return thread_gain(records, Variant::kRecursion); }},
      {"4,096 instances against 64: time an instance within 1.25 times", 1.25, false,
       [](const Records& records) {
         return large_over_64(records, [](const Record& r) { return r.best_node_seconds; });
       }},
      {"4,096 instances against 64: bytes an instance within 1.05 times", 1.05, false,
       [](const Records& records) {
         return large_over_64(records, [](const Record& r) { return static_cast<double>(r.peak_bytes) / r.batch; });
       }},
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
  std::string text = "\nWhat it is to show\n";
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
