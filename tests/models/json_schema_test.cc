/// What is found out about JSON records, and how they become instances.
#include "espalier/models/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/json.h"
#include "espalier/models/json_net.h"
#include "espalier/ops/all.h"
#include "tests/models/learn.h"
#include "tests/support/cells_agree.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

using espalier::testing::refusal_of;
using ::testing::HasSubstr;
using Kind = JsonInstance::Kind;

std::vector<Value> parse(const std::vector<std::string>& lines) {
  std::vector<Value> values;
  for (const std::string& line : lines) values.push_back(data::parse_json(line));
  return values;
}

JsonSchema infer_with(const std::vector<std::string>& lines, const JsonSchemaOptions& options) {
  return JsonSchema(parse(lines), options, [](std::size_t i) { return "data:" + std::to_string(i + 1); });
}
JsonSchema infer(const std::vector<std::string>& lines, const std::string& label = "y") {
  return infer_with(lines, {.label = label, .ignore = {}});
}

const JsonType& type_at(const JsonSchema& schema, const std::string& path) {
  for (const JsonType& type : schema.types())
    if (type.path == path) return type;
  throw UsageError("no type " + path + " in\n" + schema.describe());
}

TEST(JsonSchema, SeesTheKindsOfValuesAtEachPlace) {
  const JsonSchema schema = infer({R"({"y": "a", "n": 1, "s": "red", "l": [1, 2], "o": {"x": true}, "m": null})",
                                   R"({"y": "b", "n": 3.5, "s": "blue", "m": "text"})", R"({"y": "a", "m": 4})"});
  EXPECT_TRUE(type_at(schema, "n").has_numbers);
  EXPECT_DOUBLE_EQ(type_at(schema, "n").scale.mean, 2.25);
  EXPECT_THAT(type_at(schema, "s").words, ::testing::ElementsAre("blue", "red"));
  EXPECT_TRUE(type_at(schema, "l").has_lists);
  EXPECT_TRUE(type_at(schema, "l[]").has_numbers);
  EXPECT_TRUE(type_at(schema, "o").has_maps);
  EXPECT_TRUE(type_at(schema, "m").has_strings && type_at(schema, "m").has_numbers);
  EXPECT_THAT(schema.classes(), ::testing::ElementsAre("a", "b"));
  for (const JsonType::Field& field : schema.types()[0].fields) EXPECT_NE(field.key, "y") << "the label is no input";
}

TEST(JsonSchema, DecidesBetweenClassesAndNumbersByTheLabel) {
  const auto with_labels = [](const std::vector<std::string>& labels) {
    std::vector<std::string> lines;
    for (const std::string& label : labels) lines.push_back(R"({"x": 1, "y": )" + label + "}");
    return lines;
  };
  EXPECT_TRUE(infer(with_labels({"0", "1", "0", "1", "1", "0"})).is_classification());
  EXPECT_TRUE(infer(with_labels({"true", "false"})).is_classification());
  EXPECT_TRUE(infer(with_labels({"\"a\"", "1"})).is_classification());
  EXPECT_FALSE(infer(with_labels({"0", "1", "2"})).is_classification());
  EXPECT_FALSE(infer(with_labels({"0.5", "1", "0.5", "1"})).is_classification());
  EXPECT_TRUE(infer_with(with_labels({"0.5", "1", "0.5", "1"}), {.label = "y", .ignore = {}, .task = "classification"})
                  .is_classification());
  EXPECT_FALSE(infer_with(with_labels({"0", "1", "0", "1"}), {.label = "y", .ignore = {}, .task = "regression"})
                   .is_classification());
  EXPECT_THAT(refusal_of([&] {
                infer_with(with_labels({"\"a\"", "1"}), {.label = "y", .ignore = {}, .task = "regression"});
              }),
              HasSubstr("expected the labels \"y\" to be numbers, for regression, and some are not"));
}

TEST(JsonSchema, GivesNumbersBackAsTheyWere) {
  const JsonSchema schema = infer({R"({"y": 1.0})", R"({"y": 1000.0})", R"({"y": 31.6})"});
  for (const char* text : {R"({"y": 1.0})", R"({"y": 1000.0})", R"({"y": 2})"}) {
    const Value record = data::parse_json(text);
    const float target = schema.encode(record, true, "here").nodes.back().target;
    EXPECT_NEAR(schema.number_of(target) / record.at("y").as_float(), 1, 1e-5);
  }
}

const std::vector<std::string> kTrees{
    R"({"label": 1, "left": {"label": 0, "word": "not"}, "right": {"label": 1, "left": {"label": 0, "word": "bad"},
        "right": {"label": 1, "word": "good"}}})",
    R"({"label": 0, "left": {"label": 0, "left": {"label": 1, "word": "good"}, "right": {"label": 0, "word": "bad"}},
        "right": {"label": 0, "word": "not"}})",
    R"({"label": 1, "left": {"label": 1, "word": "good"}, "right": {"label": 0, "word": "not"}})",
    R"({"label": 0, "left": {"label": 0, "word": "bad"}, "right": {"label": 0, "word": "not"}})"};

TEST(JsonSchema, MakesOneTypeOfAllNodesOfATree) {
  const JsonSchema schema = infer(kTrees, "label");
  const JsonType& root = schema.types()[0];
  EXPECT_TRUE(root.recursive && root.has_label);
  ASSERT_EQ(root.fields.size(), 3);  // left, right, word
  EXPECT_EQ(root.fields[0].type, 0);
  EXPECT_EQ(root.fields[1].type, 0);
  const JsonInstance instance = schema.encode(data::parse_json(kTrees[0]), true, "here");
  ASSERT_EQ(instance.nodes.size(), 8);  // five objects, three words
  std::vector<float> targets;
  for (const JsonInstance::Node& node : instance.nodes)
    if (node.has_target) targets.push_back(node.target);
  EXPECT_EQ(std::ssize(targets), 5);
  EXPECT_EQ(targets.back(), 1);
}

TEST(JsonSchema, MakesOneTypeOfAPlanAndItsSubplans) {
  const JsonSchema schema = infer(
      {R"({"explain": {"time": 3, "Plan": {"Node Type": "Sort", "Rows": 3, "Plans": [{"Node Type": "Scan", "Rows": 9}]}}})",
       R"({"explain": {"time": 5, "Plan": {"Node Type": "Join", "Rows": 1, "Plans": [{"Node Type": "Scan", "Rows": 7},
          {"Node Type": "Sort", "Rows": 3, "Plans": [{"Node Type": "Scan", "Rows": 9, "Alias": "t"}]}]}}})"},
      "time");
  EXPECT_EQ(schema.label_path(), "explain.time");
  const JsonType& plan = type_at(schema, "explain.Plan");
  EXPECT_TRUE(plan.recursive);
  EXPECT_EQ(plan.fields.size(), 4);  // of all nodes together
  EXPECT_FALSE(type_at(schema, "explain").recursive);
}

TEST(JsonSchema, KeepsApartWhatIsNotAlike) {
  const JsonSchema schema =
      infer({R"({"y": 1.5, "a": {"v": 1}, "b": {"v": "x"}})", R"({"y": 2.5, "a": {"v": 2}, "b": {"v": "z"}})"});
  EXPECT_TRUE(type_at(schema, "a.v").has_numbers && !type_at(schema, "a.v").has_strings);
  EXPECT_TRUE(type_at(schema, "b.v").has_strings && !type_at(schema, "b.v").has_numbers);
}

TEST(JsonSchema, TakesStringsAsCategoriesOrAsTexts) {
  std::vector<std::string> lines;
  for (int i = 0; i < 60; ++i)
    lines.push_back(R"({"y": )" + std::to_string(i % 2) + R"(, "city": "c)" + std::to_string(i % 7) +
                    R"(", "review": "Film number )" + std::to_string(i) + R"( is good!"})");
  const JsonSchema schema = infer(lines);
  EXPECT_FALSE(type_at(schema, "city").is_text);
  EXPECT_EQ(type_at(schema, "city").words.size(), 7);
  EXPECT_TRUE(type_at(schema, "review").is_text);
  EXPECT_THAT(type_at(schema, "review").words, ::testing::Contains("film"));
  EXPECT_THAT(words_of_text("It's GOOD, isn't it?"),
              ::testing::ElementsAre("it", "'", "s", "good", ",", "isn", "'", "t", "it", "?"));
}

TEST(JsonSchema, ReadsWhatItHasNeverSeenAsUnknown) {
  const JsonSchema schema = infer({R"({"y": 1.5, "s": "a", "n": 1})", R"({"y": 2.5, "s": "a", "n": 2})"});
  const JsonInstance instance =
      schema.encode(data::parse_json(R"({"s": 7, "n": "text", "more": [1], "y": 1})"), false, "here");
  EXPECT_EQ(instance.nodes.back().kind, Kind::kMap);
  for (std::size_t n = 0; n + 1 < instance.nodes.size(); ++n) EXPECT_EQ(instance.nodes[n].kind, Kind::kNull);
}

TEST(JsonSchema, LeavesOutIgnoredKeysEverywhere) {
  const JsonSchema schema = infer_with({R"({"y": 1.5, "Actual Time": 3, "a": {"Actual Rows": 1, "Rows": 2}})"},
                                       {.label = "y", .ignore = {"Actual *"}});
  EXPECT_THAT(schema.describe(), ::testing::Not(HasSubstr("Actual")));
  EXPECT_THAT(refusal_of([] { infer_with({R"({"y": 1.5})"}, {.label = "y", .ignore = {"y"}}); }),
              HasSubstr("\"y\" is to be ignored, and it is a part of the label \"y\""));
}

TEST(JsonSchema, RefusesWhatCannotBeLearnt) {
  EXPECT_EQ(refusal_of<DataError>([] { infer({}); }), "json: there are no records to learn from");
  EXPECT_EQ(refusal_of<DataError>([] {
              infer({R"({"y": 1})", "[1]"});
            }),
            "data:2: expected an object with the label \"y\", not a list");
  EXPECT_EQ(refusal_of<DataError>([] {
              infer({R"({"y": 1})", R"({"x": 1})"});
            }),
            "data:2: expected the label \"y\", which is missing");
  EXPECT_EQ(refusal_of<DataError>([] {
              infer({R"({"y": 1})", R"({"y": null})"});
            }),
            "data:2: expected the label \"y\", which is missing");
  EXPECT_EQ(refusal_of<DataError>([] { infer({R"({"y": [1]})"}); }),
            "data:1: expected the label \"y\" to be a text, a number, true or false, not a list");
  EXPECT_EQ(refusal_of<DataError>([] { infer({R"({"x": 1})"}); }),
            "data:1: expected the label \"y\", which no record has");
  EXPECT_EQ(refusal_of<DataError>([] { infer({R"({"a": {"y": 1}, "b": {"y": 2}})"}); }),
            "data:1: expected one place with the label \"y\", and there are \"a.y\", \"b.y\"");
  const JsonSchema schema = infer({R"({"y": "a"})", R"({"y": "b"})"});
  EXPECT_EQ(refusal_of<DataError>([&] { schema.encode(data::parse_json(R"({"y": "c"})"), true, "dev:3"); }),
            "dev:3: expected the label \"y\" to be a class of the training data, not \"c\"");
}

TEST(JsonSchema, TakesRecordsOfAnyDepth) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += R"({"n": 1, "a": )";
  deep += "0" + std::string(20'000, '}');
  std::string lists;
  for (int i = 0; i < 20'000; ++i) lists += "[1, ";
  lists += "2" + std::string(20'000, ']');
  const std::vector<std::string> lines{R"({"y": 1.5, "a": )" + deep + R"(, "l": )" + lists + "}",
                                       R"({"y": 2.5, "a": 1, "l": []})"};
  const JsonSchema schema = infer(lines);
  EXPECT_LT(schema.types().size(), 12);
  const JsonInstance instance = schema.encode(data::parse_json(lines[0]), true, "here");
  EXPECT_GT(instance.nodes.size(), 80'000);
}

TEST(JsonSchema, ComesBackFromItsText) {
  const JsonSchema schema = infer(kTrees, "label");
  const JsonSchema again = JsonSchema::from_value(data::parse_json(schema.to_value().to_text()));
  EXPECT_EQ(again.to_value(), schema.to_value());
  EXPECT_EQ(again.describe(), schema.describe());
  EXPECT_THAT(refusal_of<DataError>([] { JsonSchema::from_value(data::parse_json("{}")); }),
              HasSubstr("this is no schema"));
  std::string text = schema.to_value().to_text();
  text.replace(text.find("\"root\":0"), 8, "\"root\":99");
  EXPECT_THAT(refusal_of<DataError>([&] { JsonSchema::from_value(data::parse_json(text)); }), HasSubstr("type 99"));
}

// --- the network -----------------------------------------------------------------------------------------------------

const std::vector<std::string> kMixed{
    R"({"y": 1.5, "n": 3, "s": "a", "l": [1, 2, 3], "o": {"t": true, "u": null}, "list": []})",
    R"({"y": 0.5, "n": -1, "s": "b", "l": [4], "o": {"t": false}, "list": [{"k": 1}, {"k": 2}]})",
    R"({"y": -2, "s": "a", "l": [], "o": null, "list": [{"k": 5, "m": "x"}]})"};

espalier::testing::LossOf loss_of(const JsonNet& net, const std::vector<JsonInstance>& instances) {
  return [&](Graph& graph, std::vector<Expr>&) {
    std::vector<Expr> losses;
    for (const JsonInstance& instance : instances) {
      graph.begin_instance();
      losses.push_back(net.loss(graph, instance, nullptr));
    }
    return sum(losses);
  };
}

TEST(JsonNet, GivesTheNumbersOfPlainCodeInEveryWay) {
  const auto check = [](const std::vector<std::string>& lines, const JsonSchemaOptions& options) {
    const JsonSchema schema = infer_with(lines, options);
    std::vector<JsonInstance> instances;
    for (const Value& value : parse(lines)) instances.push_back(schema.encode(value, true, "here"));
    Model model;
    const JsonNet net(model, {.hidden = 5, .dropout = 0}, schema);
    espalier::testing::expect_cells_agree(model, loss_of(net, instances));
    EXPECT_LT(testing::loss_after(model, 200,
                                  [&](Graph& graph) {
                                    std::vector<Expr> none;
                                    return loss_of(net, instances)(graph, none);
                                  }),
              0.1);
  };
  check(kMixed, {.label = "y", .ignore = {}});
  check(kMixed, {.label = "y", .ignore = {}, .lists = "bags"});
  check(kTrees, {.label = "label", .ignore = {}});
}

}  // namespace
}  // namespace espalier::models
