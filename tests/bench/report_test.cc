/// What becomes of records: verdicts, tables and pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/suite/axis.h"
#include "bench/suite/page.h"
#include "bench/suite/plot.h"
#include "bench/suite/record.h"
#include "bench/suite/summary.h"
#include "bench/suite/table.h"
#include "bench/suite/targets.h"
#include "tests/support/well_formed.h"

namespace espalier::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Record record(std::string workload, std::string sizes, std::int32_t batch, Variant variant, double ratio) {
  Record result;
  result.workload = std::move(workload);
  result.sizes = std::move(sizes);
  result.batch = batch;
  result.variant = variant;
  result.ratio_to_limit = ratio;
  result.over_limit_ns = 100;
  result.batch_seconds = 0.01;
  result.instances_per_second = batch / result.batch_seconds;
  result.steps = 12;
  result.bound = 11;
  result.peak_bytes = 5'000'000;
  result.rounds = 3;
  return result;
}

Verdict verdict_on(std::string_view demand_start, const Records& records) {
  for (const Target& target : targets())
    if (target.demand.starts_with(demand_start)) return judge(target, records);
  ADD_FAILURE() << "no target begins with " << demand_start;
  return {};
}

TEST(Targets, AreMetWhereAllFiguresAre) {
  Records records{record("B1", "300/150", 64, Variant::kCells, 0.95), record("B2", "128/64", 16, Variant::kCells, 0.91),
                  record("B7", "32", 100, Variant::kCells, 0.5), record("B1", "300/150", 64, Variant::kPlain, 0.6)};
  Verdict verdict = verdict_on("cells at 0.90", records);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kMet);
  EXPECT_EQ(verdict.text, "least 0.91 (B2 128/64 train, 16 instances, 1 thread, leaves each)");

  records.push_back(record("B1", "128/128", 256, Variant::kCells, 0.89));
  verdict = verdict_on("cells at 0.90", records);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kMissed);
  EXPECT_EQ(verdict.text, "least 0.89 (B1 128/128 train, 256 instances, 1 thread, leaves each); 1 of 3 miss it");
  EXPECT_EQ(verdict_on("recursions at 0.90", records).kind, Verdict::Kind::kNotMeasured);
  records.push_back(record("B2", "128/64", 64, Variant::kRecursion, 0.93));
  EXPECT_EQ(verdict_on("recursions at 0.90", records).kind, Verdict::Kind::kMet);
  EXPECT_EQ(verdict_on("cells at 0.80", records).kind, Verdict::Kind::kNotMeasured);
  EXPECT_EQ(verdict_on("B7 at hidden size 32", records).kind, Verdict::Kind::kMet);
  EXPECT_EQ(verdict_on("B1 op by op", records).kind, Verdict::Kind::kMissed);
  EXPECT_THAT(targets_text(records), HasSubstr("  not met       cells at 0.90"));
}

TEST(Targets, CompareThreadsShapesAndLargeMinibatches) {
  Record one = record("B1", "300/150", 64, Variant::kCells, 1.0);
  Record two = record("B1", "300/150", 64, Variant::kCells, 0.8);
  two.threads = 2;
  EXPECT_EQ(verdict_on("all threads", {one, two}).text,
            "least 0.8 (B1 300/150 train, 64 instances, 2 threads, leaves each); 1 of 1 miss it");

  Record mixed = record("B0", "random/1024", 16, Variant::kCells, 0.95);
  Record equal = record("B0", "same/1024", 16, Variant::kCells, 0.95);
  mixed.best_node_seconds = 1.04e-6;
  equal.best_node_seconds = 1e-6;
  EXPECT_EQ(verdict_on("Fold's table (B0): trees of mixed", {mixed, equal}).kind, Verdict::Kind::kMet);
  EXPECT_EQ(verdict_on("Fold's table (B0): cost", {mixed, equal}).kind, Verdict::Kind::kMet);

  Record large = record("B1", "300/150", 4096, Variant::kCells, 1.0);
  one.best_node_seconds = 1e-6;
  large.best_node_seconds = 1.5e-6;
  large.peak_bytes = one.peak_bytes * 64;
  EXPECT_EQ(verdict_on("4,096 instances against 64: time", {one, large}).kind, Verdict::Kind::kMissed);
  EXPECT_EQ(verdict_on("4,096 instances against 64: bytes", {one, large}).kind, Verdict::Kind::kMet);
}

TEST(Summary, TellsWhatComputingEqualLeavesOnceGains) {
  Record each = record("B1", "300/150", 64, Variant::kCells, 1.0);
  Record once = each;
  once.leaves = Leaves::kOnce;
  once.instances_per_second *= 1.25;
  EXPECT_THAT(memoisation_text({each, once}), HasSubstr("B1 300/150 train, 1 thread"));
  EXPECT_THAT(memoisation_text({each, once}), HasSubstr("64: 1.25"));
  EXPECT_EQ(memoisation_text({each}), "");
}

TEST(Summary, HasFoldsTable) {
  Record mixed = record("B0", "random/1024", 16, Variant::kCells, 0.9);
  Record equal = record("B0", "same/1024", 16, Variant::kCells, 0.8);
  Record by_hand = record("B0", "same/1024", 16, Variant::kLimit, 1);
  mixed.best_node_seconds = 1.5e-6;
  equal.best_node_seconds = 1e-6;
  const std::string text = fold_table_text({mixed, equal, by_hand});
  EXPECT_THAT(text, HasSubstr("1.25"));  // 1 / 0.8
  EXPECT_THAT(text, HasSubstr("1.50"));
  EXPECT_EQ(fold_table_text({mixed, equal}), "");
}

TEST(Summary, HasTheLatencyOfPlans) {
  Record cells = record("B7", "32", 1, Variant::kCells, 0.9);
  Record limit = record("B7", "32", 1, Variant::kLimit, 1);
  cells.mode = limit.mode = Mode::kInfer;
  cells.batch_seconds = 12.5e-6;
  limit.batch_seconds = 10e-6;
  EXPECT_THAT(latency_text({limit, cells}),
              HasSubstr("1 plan   cells        12.5 us   limit    10.0 us   100 ns a node over it"));
  Record recursion = cells;
  recursion.variant = Variant::kRecursion;
  EXPECT_THAT(latency_text({limit, cells, recursion}), HasSubstr("1 plan   recursion    12.5 us   limit    10.0 us"));
  cells.mode = Mode::kTrain;
  EXPECT_EQ(latency_text({cells}), "");
}

TEST(Summary, ComparesProductsWithTheSameAlone) {
  Record cells = record("B1", "300/150", 64, Variant::kCells, 0.9);
  EXPECT_EQ(products_text({cells}), "");
  EXPECT_EQ(verdict_on("B1 300/150, 64 instances", {cells}).kind, Verdict::Kind::kNotMeasured);
  cells.products.emplace();
  cells.products->kinds.push_back({"forward, prepared", 25, 90, 100, 0.6});
  cells.products->ratio = 0.9;
  cells.products->shares.products = 0.6;
  cells.products->shares.maps = 0.25;
  const std::string text = products_text({cells});
  EXPECT_THAT(text, HasSubstr("  B1 300/150 train, 64 instances, 1 thread, cells, leaves each\n"));
  EXPECT_THAT(text, HasSubstr("    forward, prepared                25     90.0    100.0    0.90     60.0 %\n"));
  EXPECT_THAT(text, HasSubstr("the rest: maps 25.0 %"));
  EXPECT_EQ(verdict_on("B1 300/150, 64 instances", {cells}).kind, Verdict::Kind::kMet);
  cells.products->ratio = 0.8;
  EXPECT_EQ(verdict_on("B1 300/150, 64 instances", {cells}).kind, Verdict::Kind::kMissed);
  cells.batch = 16;
  EXPECT_EQ(verdict_on("B1 300/150, 64 instances", {cells}).kind, Verdict::Kind::kNotMeasured);
}

TEST(Table, HasAlignedColumns) {
  Record cells = record("B1", "300/150", 64, Variant::kCells, 0.95);
  cells.instances_per_second = 12'345.6;
  const Records records{record("B1", "300/150", 64, Variant::kLimit, 1.0), cells};
  std::vector<std::string> lines;
  std::string text = table_heading("trees", records[0]) + table_rows(records);
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.substr(at, end - at));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[1], "B1 300/150: trees, train, 1 thread, generated data");
  for (std::size_t i = 3; i < lines.size(); ++i) EXPECT_EQ(lines[i].size(), lines[2].size());
  EXPECT_THAT(lines[5], HasSubstr("12,346"));
  EXPECT_THAT(lines[5], HasSubstr("12/11"));
}

TEST(Table, ShortensNumbers) {
  EXPECT_EQ(short_number(1'234'567), "1,234,567");
  EXPECT_EQ(short_number(1234.5), "1234");
  EXPECT_EQ(short_number(12.34), "12.3");
  EXPECT_EQ(short_number(0.5), "0.500");
  EXPECT_EQ(short_bytes(12'345), "12.3 kB");
  EXPECT_EQ(short_time(0.00012), "120.0 us");
  EXPECT_EQ(short_time(2), "2.00 s");
}

TEST(Axis, NamesRoundNumbers) {
  EXPECT_THAT(LogAxis(1.5, 60, 0, 1).ticks(), ElementsAre(2, 5, 10, 20, 50));
  EXPECT_THAT(LogAxis(11, 33, 0, 1).ticks(), ElementsAre(15, 20, 30));
  EXPECT_THAT(LogAxis(0.5, 5000, 0, 1).ticks(), ElementsAre(1, 10, 100, 1000));
  EXPECT_DOUBLE_EQ(LogAxis(1, 100, 200, 0).place(10), 100);
  EXPECT_DOUBLE_EQ(LogAxis(7, 7, 0, 10).place(7), 5);
  EXPECT_EQ(tick_text(2000), "2k");
  EXPECT_EQ(tick_text(0.5), "0.5");
}

TEST(Plot, IsWellFormedAndDrawsEveryVariant) {
  Records records;
  for (const std::int32_t batch : {1, 16, 64})
    for (const Variant variant : {Variant::kLimit, Variant::kCells, Variant::kPlain, Variant::kUnbatched})
      for (const std::int32_t threads : {1, 2}) {
        records.push_back(record("B1", "300/150", batch, variant, 1));
        records.back().threads = threads;
      }
  records.push_back(record("B5", "128/128", 64, Variant::kCells, 1));  // a single point
  const std::string svg = plot_svg(records);
  EXPECT_EQ(espalier::testing::xml_problem(svg), "");
  for (const char* const text : {"B1 300/150 train", "B5 128/128 train", "limit, by hand", "cells", "plain, op by op",
                                 "unbatched", "dashed, hollow: 2 threads"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf\"")));
  const std::string page = page_html(records, svg);
  EXPECT_THAT(page, HasSubstr("<h2>All figures</h2>"));
  EXPECT_THAT(page, HasSubstr(svg));
}

TEST(WellFormed, TellsWhatIsNot) {
  EXPECT_EQ(espalier::testing::xml_problem("<a><b c=\"d\"/>text</a>\n"), "");
  EXPECT_THAT(espalier::testing::xml_problem("<a><b></a>"), HasSubstr("closes nothing"));
  EXPECT_THAT(espalier::testing::xml_problem("<a>"), HasSubstr("not closed"));
  EXPECT_THAT(espalier::testing::xml_problem("<a b=c></a>"), HasSubstr("quotes"));
  EXPECT_THAT(espalier::testing::xml_problem("<a>1 > 0</a>"), HasSubstr("stray"));
}

}  // namespace
}  // namespace espalier::bench
