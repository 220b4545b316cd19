/// The page of a run: well-formed, complete, and safe whatever the texts are.
#include "espalier/report/run_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/report/page_parts.h"
#include "tests/support/well_formed.h"

namespace espalier::report {
namespace {

using testing::as_xml;
using testing::count_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_report;
using testing::xml_problem;

TEST(RunPage, IsWellFormedAndNeedsNothingElse) {
  const std::string page = run_page(sample_report());
  EXPECT_EQ(xml_problem(as_xml(page)), "");
  EXPECT_THAT(page, ::testing::StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  for (const char* foreign : {"http://", "https://", "//cdn", "src=", "@import", "url(", "<link", "<iframe"})
    EXPECT_THAT(page, Not(HasSubstr(foreign)));
  EXPECT_EQ(count_of(page, "<script>"), 1U);
}

TEST(RunPage, ShowsTheFiguresThatItGets) {
  const std::string page = run_page(sample_report());
  for (const char* text :
       {"<dd class=\"value\"><bdi>0.75</bdi></dd>",
        "<th scope=\"row\">2.000</th><td>1.250</td><td></td>",
        "<th scope=\"row\">3.000</th><td>1.125</td><td>1.375</td>",
        "170 of 200 right (85.0 %)",
        "expected no, predicted yes: 10 of 40, 25.0 %",
        "<td class=\"sum\">160</td><td class=\"sum\">87.5 %</td>",
        "<td class=\"sum\">60.0 %</td><td class=\"sum\">93.3 %</td>",  // precision: 30 of 50, 140 of 150
        "1 of 30, those with the largest loss first",
        "<td data-name=\"loss\">4.250</td>",
        "<bdi>an input</bdi>",
        "<td>8,544</td><td>3</td><td>19.1</td><td>52</td>",
        "<td>2,210</td><td></td>",
        "<bdi>adam(learning_rate=0.001)</bdi>",
        "<td>98,765</td>",
        "<td>91,234</td>",
        "<td>876,543</td>",
        "<th scope=\"row\">rows per step</th><td>2.000</td>",
        "123.5 MB",
        "<td>1.00 s</td><td>25.0 %</td>",
        "<td>3.00 s</td><td>75.0 %</td>",
        "4.00 s of training, measured in the graphs of 2 threads"})
    EXPECT_THAT(page, HasSubstr(text));
}

TEST(RunPage, LeavesOutSectionsWithoutContent) {
  RunReport report;
  report.title = "empty";
  const std::string page = run_page(report);
  EXPECT_EQ(xml_problem(as_xml(page)), "");
  EXPECT_EQ(count_of(page, "<h2"), 0U);
  EXPECT_EQ(count_of(run_page(sample_report()), "<h2"), 7U);
}

TEST(RunPage, EscapesEveryText) {
  const std::string evil = "</script><script>alert(\"1\")</script>'&\x01\xFF\xE2\x80\xAE";
  RunReport report = sample_report();
  report.title = report.outcome = report.message = report.footer = report.results_of = report.statistics_of = evil;
  report.notes = {evil};
  report.headlines = {{evil, evil, evil}};
  report.settings = {{evil, evil}};
  report.data = {{evil, 1, 1, 1, 1}};
  report.confusion->classes = {evil, evil};
  report.mistakes = {{1, 1, evil, evil, evil}};
  report.residuals = Residuals{{{1, 2, evil}}};
  LineChart& chart = report.curves[0];
  chart.title = chart.x_name = chart.y_name = chart.mark_name = chart.series[0].name = evil;
  const std::string page = run_page(report);
  EXPECT_EQ(xml_problem(as_xml(page)), "");
  EXPECT_EQ(count_of(page, "<script>"), 1U);
  EXPECT_THAT(page, Not(HasSubstr("alert(\"")));
  EXPECT_THAT(page, Not(HasSubstr("\xFF")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot;)"));
}

TEST(RunPage, FoldsLongInputsAndShowsThemWhole) {
  RunReport report = sample_report();
  report.mistakes[0].input = std::string(10'000, 'x') + "the end";
  const std::string page = run_page(report);
  EXPECT_EQ(xml_problem(as_xml(page)), "");
  EXPECT_THAT(page, HasSubstr("<bdi>" + std::string(240, 'x') + "</bdi>…<details><summary>all of it</summary>"));
  EXPECT_THAT(page, HasSubstr("the end</bdi></pre></details>"));
}

TEST(RunPage, JoinsRareClassesOfALargeMatrix) {
  RunReport report = sample_report();
  Confusion& confusion = *report.confusion;
  confusion = {};
  for (std::size_t i = 0; i < 30; ++i) {
    confusion.classes.push_back("class " + std::to_string(i));
    confusion.counts.emplace_back(30, 0);
    confusion.counts[i][i] = static_cast<std::int64_t>(i + 1);  // the last are the most frequent
  }
  confusion.counts[29][0] = 7;
  const std::string page = run_page(report);
  EXPECT_EQ(xml_problem(as_xml(page)), "");
  // 1 + ... + 30 are right. The 19 most frequent are 11 to 29.
  EXPECT_THAT(page, HasSubstr("465 of 472 right (98.5 %)"));
  EXPECT_THAT(page, HasSubstr("The 19 most frequent of 30 classes"));
  EXPECT_THAT(page, HasSubstr("expected class 29, predicted 11 others: 7 of 37, 18.9 %"));
  EXPECT_THAT(page, HasSubstr("expected 11 others, predicted 11 others: 66 of 66, 100.0 %"));
  EXPECT_THAT(page, Not(HasSubstr("expected class 10,")));
}

TEST(RunPage, HasQuantilesOfErrors) {
  RunReport report = sample_report();
  report.residuals.emplace();
  for (int i = 0; i <= 100; ++i) report.residuals->points.push_back({0, i % 2 == 0 ? 1.0 * i : -1.0 * i, "one"});
  const std::string page = run_page(report);
  // Errors 0, -1, 2, -3, ... 100: their sum is 50.
  EXPECT_THAT(page, HasSubstr("mean error</th><td>0.4950</td>"));
  EXPECT_THAT(page, HasSubstr("median absolute error</th><td>50.00</td>"));
  EXPECT_THAT(page, HasSubstr("95th percentile of absolute error</th><td>95.00</td>"));
  EXPECT_THAT(page, HasSubstr("largest absolute error</th><td>100.0</td>"));
}

}  // namespace
}  // namespace espalier::report
