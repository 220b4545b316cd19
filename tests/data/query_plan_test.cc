/// Query plans of PostgreSQL in the forms in which they are printed and kept.
#include "espalier/data/query_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/data/read_all.h"
#include "tests/support/data_folder.h"

namespace espalier::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> root_types(const std::vector<QueryPlan>& plans) {
  std::vector<std::string> types;
  for (const QueryPlan& plan : plans) types.emplace_back(plan.root.at("Node Type").as_string());
  return types;
}

std::vector<std::string> types_in(const std::string& text) { return root_types(records_of<QueryPlanReader>(text)); }

const std::string kPrinted = R"json([
  {
    "Plan": {
      "Node Type": "Aggregate",
      "Plans": [
        {"Node Type": "Seq Scan", "Filter": "(name = ']{\"+')"}
      ]
    },
    "Planning Time": 0.25,
    "Execution Time": 12
  }
]
)json";

TEST(QueryPlans, AreReadAsPsqlPrintsThem) {
  const std::vector<QueryPlan> plans = records_of<QueryPlanReader>(kPrinted + "\n" + kPrinted);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[1].root.at("Plans")[0].at("Node Type").as_string(), "Seq Scan");
  EXPECT_EQ(plans[1].planning_time, 0.25);
  EXPECT_EQ(plans[1].execution_time, 12.0);
}

TEST(QueryPlans, HaveAPlace) {
  QueryPlanReader reader(Input::text(kPrinted + "\n" + kPrinted, "plans"));
  QueryPlan plan;
  ASSERT_TRUE(reader.next(plan));
  EXPECT_EQ(reader.place(), "plans:1");
  ASSERT_TRUE(reader.next(plan));
  EXPECT_EQ(reader.place(), "plans:14");
}

TEST(QueryPlans, AreReadWithTheFrameThatPsqlDraws) {
  const std::string framed =
      "              QUERY PLAN              \n"
      "--------------------------------------\n"
      " [                                   +\n"
      "   {                                 +\n"
      "     \"Plan\": {                       +\n"
      "       \"Node Type\": \"Result\",        +\n"
      "       \"Total Cost\": 0.01            +\n"
      "     }                               +\n"
      "   }                                 +\n"
      " ]\n"
      "(1 row)\n\n";
  const std::vector<QueryPlan> plans = records_of<QueryPlanReader>(framed + framed);
  EXPECT_THAT(root_types(plans), ElementsAre("Result", "Result"));
  EXPECT_EQ(plans[0].planning_time, std::nullopt);
}

TEST(QueryPlans, AreReadFromLinesOfJson) {
  const std::vector<QueryPlan> plans =
      records_of<QueryPlanReader>(R"({"query":"1a","explain":{"Plan":{"Node Type":"Limit"},"Execution Time":2.5}})"
                                  "\n"
                                  R"({"Plan":{"Node Type":"Sort"}})"
                                  "\n\n"
                                  R"({"explain":[{"Plan":{"Node Type":"Hash"}}]})"
                                  "\n"
                                  R"([{"Plan":{"Node Type":"A"}},{"Plan":{"Node Type":"B"}}])");
  EXPECT_THAT(root_types(plans), ElementsAre("Limit", "Sort", "Hash", "A", "B"));
  EXPECT_EQ(plans[0].source.at("query").as_string(), "1a");
  EXPECT_EQ(plans[0].execution_time, 2.5);
}

TEST(QueryPlans, SayWhereTheyAreDamaged) {
  const auto refusal = [](const std::string& text) { return refusal_of_text<QueryPlanReader>(text); };
  EXPECT_EQ(refusal("\n{}\n"),
            "x:2:1: expected a plan under \"Plan\" or \"explain\", \"Plan\" in the JSON that begins here");
  EXPECT_EQ(refusal("[]\n"), "x:1:1: expected at least one plan in the JSON that begins here");
  EXPECT_EQ(refusal("{\"Plan\":\n  [}\n"), "x:2:4: expected a value or ']', not \"}\"");
  EXPECT_EQ(refusal("{\"Plan\":{\"Node Type\":1}}"),
            "x:1:1: expected an operator with a text \"Node Type\" in the JSON that begins here");
  EXPECT_EQ(refusal("{\"Plan\":{\"Node Type\":\"Sort\",\"Plans\":{}}}"),
            "x:1:1: expected \"Plans\" of the operator \"Sort\" to be a list in the JSON that begins here");
  EXPECT_EQ(refusal("{\"Plan\":{\"Node Type\":\"Sort\",\"Plans\":[7]}}"),
            "x:1:1: expected an operator with a text \"Node Type\" in the JSON that begins here");
  EXPECT_EQ(refusal("{\"Plan\":{\n  \"Node Type\":\"Sort\",\n"),
            "x:3:1: expected a key in quotes, not the end of the text");
  EXPECT_EQ(refusal("Sort (cost=1)\n"), "x:1:1: expected a value, not \"Sort\"");
  EXPECT_EQ(refusal("{\"Plan\":\"\xFF\"}"), "x:1:10: expected text in UTF-8, not \"\\xff\"}\"");
}

TEST(QueryPlans, AreSkippedIfDamaged) {
  const std::string cut = kPrinted.substr(0, 60);
  EXPECT_THAT(types_in(kPrinted), ElementsAre("Aggregate"));
  QueryPlanReader reader(Input::text(cut + "\n" + kPrinted + "{\n{}\nSort\n" + kPrinted + "[\xFF]\n", "x"),
                         {.skip_damaged = true});
  EXPECT_THAT(root_types(reader.read_all()), ElementsAre("Aggregate", "Aggregate"));
  EXPECT_EQ(reader.report().damaged, 4);  // one of them with the line after it
}

TEST(QueryPlans, AnEmptyFileHasNone) { EXPECT_THAT(types_in("\n\n"), IsEmpty()); }

TEST(QueryPlans, MayBeDeep) {
  std::string text = "{\"Plan\":";
  constexpr int kDepth = 100'000;
  for (int i = 0; i < kDepth; ++i) text += R"({"Node Type":"Sort","Plans":[)";
  text += R"({"Node Type":"Scan"})";
  for (int i = 0; i < kDepth; ++i) text += "]}";
  EXPECT_THAT(types_in(text + "}"), ElementsAre("Sort"));
}

TEST(RealQueryPlans, TheFilesHaveTheirPublishedSize) {
  if (testing::data_folder().empty()) GTEST_SKIP() << "ESPALIER_DATA names no folder of real data";
  const auto counts = [](const std::string& name) {
    std::size_t plans = 0, nodes = 0;
    QueryPlanReader reader(testing::data_folder() / "query_plans" / name);
    for (QueryPlan plan; reader.next(plan); ++plans) {
      EXPECT_TRUE(plan.execution_time.has_value());
      std::vector<const Value*> waiting{&plan.root};
      for (; !waiting.empty(); ++nodes) {
        const Value* children = waiting.back()->find("Plans");
        waiting.pop_back();
        if (children != nullptr)
          for (const Value& child : children->items()) waiting.push_back(&child);
      }
    }
    return std::to_string(plans) + " " + std::to_string(nodes);
  };
  EXPECT_EQ(counts("job_postgres.jsonl.gz"), "226 4461");
  EXPECT_EQ(counts("imdb_synthetic_postgres.jsonl").substr(0, 4), "500 ");
  EXPECT_EQ(counts("job_light_postgres.jsonl").substr(0, 3), "70 ");
  EXPECT_EQ(counts("tpch_sf1_postgres.jsonl.gz").substr(0, 5), "3552 ");
}

}  // namespace
}  // namespace espalier::data
