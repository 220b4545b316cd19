#include "espalier/show/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "espalier/exec/gradients.h"
#include "espalier/ops/all.h"
#include "espalier/report/html.h"
#include "espalier/show/json_text.h"
#include "espalier/show/page_parts.h"
#include "espalier/show/trace_file.h"
#include "tests/support/random_trees.h"
#include "tests/support/well_formed.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::random_trees;
using testing::SentimentNet;

/// What the page hands to its script.
nlohmann::json data_of(const std::string& page) {
  constexpr std::string_view kBegin = "id=\"data\">";
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(Page, HasTheNumbersOfTheStatistics) {
  const SentimentNet net(6);
  Graph graph;
  net.loss(graph, random_trees(3, 9, SentimentNet::kWords), true).backward();
  const Statistics counts = graph.statistics();
  const nlohmann::json data = data_of(page_text(graph));
  EXPECT_EQ(data["allSteps"], counts.steps);
  std::int64_t nodes = 0;
  for (const auto& step : data["steps"]) nodes += step["nodes"].get<std::int64_t>();
  EXPECT_EQ(nodes, counts.nodes);
  // All nodes are drawn: those that ran once, and those that were merged.
  std::int64_t own = 0;
  for (const auto& merged : data["merged"]) own += merged == 0 ? 1 : 0;
  EXPECT_EQ(own, counts.nodes);
  EXPECT_EQ(std::ssize(data["merged"]) - own, counts.merged);
}

TEST(Page, GroupsStepsOfOneKindAndSaysWhatWasSaved) {
  const SentimentNet net(6);
  Graph graph;
  net.loss(graph, random_trees(3, 9, SentimentNet::kWords), true).backward();
  const std::string page = page_text(graph, {.measured = {{Strategy::kNone, 0.012}, {Strategy::kFrontier, 0.003}}});
  // Steps are of one group if they do the same operation with the same weights on the same shapes.
  const Batches batches = read_batches(graph);
  const nlohmann::json data = data_of(page);
  ASSERT_EQ(data["steps"].size(), batches.steps.size());
  std::set<std::int32_t> groups;
  for (std::size_t s = 0; s < batches.steps.size(); ++s) {
    EXPECT_EQ(data["steps"][s]["group"], batches.steps[s].group) << s;
    groups.insert(batches.steps[s].group);
  }
  EXPECT_LT(groups.size(), batches.steps.size());
  EXPECT_THAT(page, HasSubstr("as measured here, 3.00 ms instead of 12.00 ms: 4.0 times as fast"));
  EXPECT_THAT(page, HasSubstr("it is proven that no schedule has fewer than"));
  const Statistics counts = graph.statistics();
  ASSERT_GT(counts.merged, 0);
  EXPECT_THAT(page, HasSubstr(std::to_string(counts.merged) + " equal another one"));
}

TEST(Page, ShowsTimesOfATraceThatWasOn) {
  const SentimentNet net(6);
  Trace trace;
  Graph graph;
  net.loss(graph, random_trees(3, 5, SentimentNet::kWords), true).backward();
  trace.stop();
  const show::PageFacts facts(graph, {.trace = &trace});
  ASSERT_TRUE(facts.times.known);
  double all = 0;
  for (const show::TimePart& part : facts.times.parts) {
    EXPECT_GE(part.seconds, 0) << part.name;
    all += part.seconds;
  }
  EXPECT_NEAR(all, facts.times.seconds, 1e-9 + 1e-6 * facts.times.seconds);
  for (std::size_t s = 0; s < facts.batches.steps.size(); ++s) EXPECT_GT(facts.times.forward[s], 0) << s;
  EXPECT_THAT(page_text(graph, {.trace = &trace}), HasSubstr("class=\"chart timeline\""));
  EXPECT_THAT(page_text(graph), HasSubstr("No times were taken"));
}

TEST(Page, HostileTextsStayTexts) {
  const SentimentNet net(4);
  Graph graph;
  net.loss(graph, random_trees(3, 2, SentimentNet::kWords), true).backward();
  const std::string hostile =
      "</script><script>alert(1)</script>\"'<img src=x onerror=y>&\xE2\x80\xA8\xFF\x01" + std::string(10'000, 'w');
  const std::string page = page_text(
      graph, {.title = hostile, .footer = hostile, .notes = {hostile}, .text = [&](std::int32_t) { return hostile; }});
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_EQ(data_of(page)["inputs"][0][1].get<std::string>().substr(0, 16), "</script><script");
  const std::string svg = picture_svg(graph, true, {.title = hostile, .text = [&](std::int32_t) { return hostile; }});
  EXPECT_EQ(testing::xml_problem(svg), "");
}

TEST(Page, SaysSoIfNothingRan) {
  Graph graph;
  EXPECT_THAT(page_text(graph), HasSubstr("Nothing was computed yet"));
  Graph plain({.execution = Execution::kPlain});
  const Expr sum = plain.constant(1.0) + plain.constant(2.0);
  sum.value();
  EXPECT_THAT(page_text(plain), HasSubstr("reference code"));
}

TEST(Page, SummarisesAMillionNodes) {
  Graph graph({.training = false});
  Expr last = graph.constant(Shape{2}, 1.0);
  for (int i = 0; i < 1'000'000; ++i) last = tanh(last);
  graph.finish({last});
  const std::string page = page_text(graph);
  EXPECT_LT(page.size(), 2'000'000U);
  EXPECT_THAT(page, HasSubstr("No input is drawn"));
  EXPECT_THAT(page, HasSubstr("1,000,000"));
}

TEST(Picture, IsWellFormedAndHasEveryNodeTwice) {
  const SentimentNet net(4);
  Graph graph({.training = false});
  const Expr loss = net.loss(graph, random_trees(3, 2, SentimentNet::kWords), false);
  graph.finish({loss});
  for (const bool animated : {false, true}) {
    const std::string svg = picture_svg(graph, animated);
    EXPECT_EQ(testing::xml_problem(svg), "");
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_EQ(svg.find("@keyframes") != std::string::npos, animated);
  }
}

TEST(Summary, EndsWithStrategiesAndAdvice) {
  const SentimentNet net(4);
  Graph graph({.strategy = Strategy::kNone});
  net.loss(graph, random_trees(3, 2, SentimentNet::kWords), true).backward();
  EXPECT_THAT(page_text(graph), HasSubstr("Here nothing ran together"));
  const std::string text = page_summary(graph);
  EXPECT_THAT(text, HasSubstr("frontier"));
  EXPECT_THAT(text, HasSubstr("advice: Use Strategy::kFrontier"));
}

TEST(TraceFile, IsJsonWhoseSpansAreNested) {
  const SentimentNet net(4);
  Trace trace;
  Graph graph;
  net.loss(graph, random_trees(3, 4, SentimentNet::kWords), true).backward();
  trace.stop();
  const nlohmann::json json = nlohmann::json::parse(trace_text(trace));
  std::vector<double> ends;  // of the spans that are open
  std::int64_t kernels = 0;
  std::int64_t counters = 0;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] == "C") ++counters;
    if (event["ph"] != "X") continue;
    const double begin = event["ts"];
    const double end = begin + event["dur"].get<double>();
    while (!ends.empty() && ends.back() <= begin + 1e-3) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back() + 2e-3);
    }
    ends.push_back(end);
    kernels += event["cat"] == "kernels" ? 1 : 0;
  }
  EXPECT_EQ(kernels, graph.statistics().steps);
  EXPECT_GT(counters, 0);
}

TEST(JsonText, EscapesWhatEndsScriptsAndStrings) {
  EXPECT_EQ(show::json_text("a<b>\"\\\n\x7F"), R"("a\u003cb\u003e\u0022\u005c\u000a\u007f")");
  EXPECT_EQ(show::json_text("\xE2\x80\xA8\xE2\x80\xA9"), R"("\u2028\u2029")");
  EXPECT_EQ(show::json_text("\xFFz"), R"("\ufffdz")");
  EXPECT_EQ(show::json_text("אב"), "\"אב\"");
}

}  // namespace
}  // namespace espalier
