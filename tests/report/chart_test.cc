/// Charts, axes, numbers and escaping.
#include "espalier/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "espalier/report/axis.h"
#include "espalier/report/html.h"
#include "espalier/report/numbers.h"
#include "tests/report/page_parts.h"
#include "tests/support/well_formed.h"

namespace espalier::report {
namespace {

using testing::count_of;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::xml_problem;

LineChart chart_of(std::vector<Series> series) { return {"Loss", "epoch", "loss", std::move(series), {}, ""}; }

TEST(Chart, HasAMarkAReadoutAndARowForEveryPoint) {
  const std::string html = chart_html(chart_of({{"training", {{1, 3}, {2, 2}, {3, 1}}, false, 0}}));
  EXPECT_EQ(xml_problem(html), "");
  EXPECT_EQ(count_of(html, "<g class=\"at\">"), 3U);
  EXPECT_EQ(count_of(html, "<tr><th scope=\"row\">"), 3U);
  EXPECT_EQ(count_of(html, "class=\"mark c0\""), 4U);  // and one in the legend
  EXPECT_THAT(html, HasSubstr(">epoch 2.000</text>"));
  EXPECT_THAT(html, HasSubstr(">training 2.000</text>"));
}

TEST(Chart, StandsHigherForHigherValues) {
  // One unit wider at both ends than 6 % of the range: y from 0.88 to 3.12 over 224 units, 238 at the bottom.
  const std::string html = chart_html(chart_of({{"training", {{1, 3}, {2, 1}}, false, 0}}));
  EXPECT_THAT(html, HasSubstr("<polyline points=\"56.0,26.0 440.0,226.0\""));
}

TEST(Chart, LeavesOutWhatIsNotFinite) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::string html = chart_html(chart_of({{"a", {{1, kNan}, {2, 2}, {3, INFINITY}}, false, 0}}));
  EXPECT_EQ(xml_problem(html), "");
  EXPECT_EQ(count_of(html, "<tr><th scope=\"row\">"), 1U);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(chart_html(chart_of({{"a", {{1, kNan}}, false, 0}})), "");
  EXPECT_EQ(chart_html(chart_of({})), "");
}

TEST(Chart, ThinsLongLinesAndSaysSo) {
  Series faint{"updates", {}, true, 0};
  Series line{"training", {}, false, 0};
  for (int i = 0; i < 10'000; ++i) faint.points.push_back({i / 10.0, 1.0 * (i % 2)});
  for (int i = 0; i < 1000; ++i) line.points.push_back({1.0 * i, 0.5});
  const std::string html = chart_html(chart_of({faint, line}));
  EXPECT_THAT(html, HasSubstr("200 of 1000 rows, evenly chosen"));
  EXPECT_EQ(count_of(html, "<g class=\"at\">"), 200U);
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">0</th>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">999.0</th>"));
  // Means of neighbours: 25 values of 0 and 1 by turns have a mean of 12/25 or 13/25, so both lines are in the middle.
  EXPECT_LT(html.size(), 200'000U);
}

TEST(Scatter, ShowsEveryOutlier) {
  Scatter scatter{"Answers", {}};
  for (int i = 0; i < 5000; ++i) scatter.points.push_back({1.0 * i, 1.0 * i, "ordinary"});
  for (int i = 0; i < 20; ++i) scatter.points.push_back({1.0, 5000.0 + i, "outlier"});
  const std::string html = scatter_html(scatter);
  EXPECT_EQ(xml_problem(html), "");
  EXPECT_EQ(count_of(html, "outlier: expected 1.000"), 20U);
  EXPECT_EQ(count_of(html, "<g class=\"dot\">"), 1500U);
  EXPECT_THAT(html, HasSubstr("1,500 of 5,020 points"));
}

TEST(Scatter, TakesLogarithmsOfWideRanges) {
  EXPECT_THAT(scatter_html({"Cost", {{1, 2, "a"}, {10'000, 9000, "b"}}}), HasSubstr("logarithmic"));
  EXPECT_THAT(scatter_html({"Cost", {{0, 2, "a"}, {10'000, 9000, "b"}}}), ::testing::Not(HasSubstr("logarithmic")));
}

TEST(Axis, NamesRoundNumbers) {
  EXPECT_THAT(Axis(Scale::kLog, 1.5, 60, 0, 1).ticks(), ElementsAre(2, 5, 10, 20, 50));
  EXPECT_THAT(Axis(Scale::kLog, 11, 33, 0, 1).ticks(), ElementsAre(15, 20, 30));
  EXPECT_THAT(Axis(Scale::kLog, 0.5, 5000, 0, 1).ticks(), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(Axis(Scale::kLog, 1e-6, 1e7, 0, 1).ticks(),
              ElementsAre(DoubleEq(1e-6), DoubleEq(1e-4), DoubleEq(1e-2), 1, 100, 1e4, 1e6));
  EXPECT_DOUBLE_EQ(Axis(Scale::kLog, 1, 100, 200, 0).place(10), 100);
  EXPECT_DOUBLE_EQ(Axis(Scale::kLog, 7, 7, 0, 10).place(7), 5);
  EXPECT_THAT(Axis(Scale::kLinear, -0.1, 1.1, 0, 1).ticks(),
              ElementsAre(DoubleEq(0), DoubleEq(0.2), DoubleEq(0.4), DoubleEq(0.6), DoubleEq(0.8), DoubleEq(1)));
  EXPECT_THAT(Axis(Scale::kLinear, 1, 3, 0, 1).ticks(), ElementsAre(1, 1.5, 2, 2.5, 3));
  EXPECT_THAT(Axis(Scale::kLinear, 1, 30, 0, 1).ticks(3), ElementsAre(10, 20, 30));
  EXPECT_DOUBLE_EQ(Axis(Scale::kLinear, 1, 3, 0, 100).place(2), 50);
  EXPECT_EQ(tick_text(2000), "2k");
  EXPECT_EQ(tick_text(0.5), "0.5");
  EXPECT_EQ(tick_text(-1500), "-1.5k");
}

TEST(Numbers, AreShortButTelling) {
  EXPECT_EQ(short_number(1'234'567), "1,234,567");
  EXPECT_EQ(short_number(1234.5), "1234");
  EXPECT_EQ(short_number(12.34), "12.3");
  EXPECT_EQ(short_number(0.5), "0.500");
  EXPECT_EQ(short_bytes(12'345), "12.3 kB");
  EXPECT_EQ(short_time(0.00012), "120.0 us");
  EXPECT_EQ(short_time(2), "2.00 s");
  EXPECT_EQ(whole_number(-123'456), "-123,456");
  EXPECT_EQ(whole_number(999), "999");
  EXPECT_EQ(figure(0.85123), "0.8512");
  EXPECT_EQ(figure(1234.5678), "1235");
  EXPECT_EQ(figure(-12.345), "-12.35");
  EXPECT_EQ(figure(1e-7), "1.000e-07");
  EXPECT_EQ(figure(0), "0");
  EXPECT_EQ(percent(1, 8), "12.5 %");
  EXPECT_EQ(percent(1, 0), "0.0 %");
}

TEST(Html, EscapesAllThatCouldEndATag) {
  EXPECT_EQ(escaped("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escaped(std::string_view("a\0b\x1F\x7F\n\t", 7)), "a\u2400b\u241F\u2421\n\t");
  EXPECT_EQ(escaped("\xC3\xA9 \xC3 \xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80"),
            "\u00E9 \uFFFD \uFFFD\uFFFD \uFFFD\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escaped("\xC2\x85\xEF\xBF\xBF"), "\uFFFD\uFFFD");
  EXPECT_EQ(isolated("\u202Eabc"), "<bdi>\u202Eabc</bdi>");
}

TEST(Html, ClipsBetweenCharacters) {
  EXPECT_EQ(clipped("\u00E9\u00E9\u00E9", 2).text, "\u00E9\u00E9");
  EXPECT_FALSE(clipped("\u00E9\u00E9\u00E9", 2).whole);
  EXPECT_TRUE(clipped("abc", 3).whole);
  EXPECT_EQ(isolated_start("abc", 2), "<bdi>ab</bdi>…");
  EXPECT_EQ(isolated_start("ab", 2), "<bdi>ab</bdi>");
}

TEST(WellFormed, TellsWhatIsNot) {
  EXPECT_EQ(xml_problem("<a><b c=\"d\"/>text</a>\n"), "");
  EXPECT_THAT(xml_problem("<a><b></a>"), HasSubstr("closes nothing"));
  EXPECT_THAT(xml_problem("<a>"), HasSubstr("not closed"));
  EXPECT_THAT(xml_problem("<a b=c></a>"), HasSubstr("quotes"));
  EXPECT_THAT(xml_problem("<a>1 > 0</a>"), HasSubstr("stray"));
}

}  // namespace
}  // namespace espalier::report
