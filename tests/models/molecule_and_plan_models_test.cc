/// The models "molecules" and "plans" with their data: tables, SDF, lines of SMILES, JSON, and plans in any form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/json.h"
#include "espalier/data/molecule.h"
#include "espalier/models/plan_features.h"
#include "tests/models/model_files.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

using espalier::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Settings = std::vector<std::pair<std::string, std::string>>;

class MoleculeModel : public testing::ModelFiles {
 protected:
  void SetUp() override {
    if (!data::rdkit_available()) GTEST_SKIP() << "built without RDKit (librdkit-dev, libboost-dev)";
  }
};

// y counts carbons; z is 1 where there is oxygen, and once it is not known.
const std::string kMolecules =
    "id,y,smiles,z\na,1,CO,1\nb,2,CC ,0\nc,3,CCCO,1\nd,4,CCCC,0\ne,6,c1ccccc1,\nf,5,CCCCCO,1\ng,7,CCCCCCC,0\n";

TEST_F(MoleculeModel, LearnsNumbersFromATableInBothNetworks) {
  for (const std::string network : {"message_passing", "weave"}) {
    const auto metrics =
        learn("molecules", {{{write("molecules.csv", kMolecules)}, {}, {}}},
              {{"targets", "y"}, {"network", network}, {"hidden", "8"}, {"rounds", "2"}, {"dropout", "0"}}, 150,
              "{\"smiles\": \"CCCO\"}\n{\"smiles\": \"[Na]\"}\n", true, 2);
    EXPECT_EQ(metrics[0].name, "rmse");
    EXPECT_FALSE(metrics[0].higher_is_better);
    EXPECT_LT(metrics[0].value, 0.6) << network;
    EXPECT_EQ(metrics[1].name, "mae");
    EXPECT_NEAR(data::parse_json(last_answers_[0]).at("values").at("y").as_float(), 3, 1.2);
  }
}

TEST_F(MoleculeModel, LearnsClassesOfWhichSomeAreUnknown) {
  const Settings settings{{"targets", "z"}, {"hidden", "8"}, {"rounds", "2"}, {"dropout", "0"}};
  const std::string known = kMolecules.substr(0, kMolecules.find("e,6")) + kMolecules.substr(kMolecules.find("f,5"));
  const auto metrics =
      learn("molecules", {{{write("molecules.csv", known)}, {}, {}}}, settings, 60, "smiles\nCCO\nCCC\n", false, 2);
  EXPECT_EQ(metrics[0].name, "roc_auc");
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_EQ(metrics[1].value, 1);
  EXPECT_GT(data::parse_json(last_answers_[0]).at("probabilities").at("z").as_float(), 0.5);
  EXPECT_LT(data::parse_json(last_answers_[1]).at("probabilities").at("z").as_float(), 0.5);
  // A row without any target is refused in training; with another target it is one question less.
  EXPECT_THAT(refusal_of<DataError>([&] {
                learn("molecules", {{{write("molecules.csv", kMolecules)}, {}, {}}}, settings, 1, "", false, 0);
              }),
              HasSubstr("molecule \"c1ccccc1\": expected a number for z, and there is none"));
  const std::string two = "smiles,y,z\nCO,1,1\nCC,0,\nCCO,,1\nCCC,0,0\n";
  const auto both =
      learn("molecules", {{{write("two.csv", two)}, {}, {}}},
            {{"targets", "y,z"}, {"hidden", "8"}, {"rounds", "2"}, {"dropout", "0"}}, 80, "smiles\nCO\n", false, 1);
  EXPECT_EQ(both[0].value, 1) << "the mean over both targets";
  EXPECT_THAT(last_answers_[0], HasSubstr(R"({"probabilities":{"y":)"));
}

std::string sdf_record(const std::string& atom, const std::string& items) {
  return "one\n  made by hand\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n"
         "    0.0000    0.0000    0.0000 C   0  0\n    1.4000    0.0000    0.0000 " +
         atom + "   0  0\n  1  2  1  0\nM  END\n" + items + "\n$$$$\n";
}

TEST_F(MoleculeModel, ReadsSdfAndLinesOfSmilesByTheNameOfTheFile) {
  const std::string sdf = sdf_record("O", "> <logP>\n-0.77\n") + sdf_record("N", "> <logP>\n1.5\n");
  learn("molecules", {{{write("train.sdf", sdf)}, {}, {}}},
        {{"targets", "logP"}, {"hidden", "8"}, {"rounds", "1"}, {"dropout", "0"}}, 120,
        "{\"smiles\": \"CO\", \"logP\": null}\n", true, 1);
  EXPECT_NEAR(data::parse_json(last_answers_[0]).at("values").at("logP").as_float(), -0.77, 0.5);
  const auto model = load(folder_ / "run");
  std::vector<std::string> given;
  const auto take = [&](const Value& answer) { given.push_back(answer.to_text()); };
  model->predict(data::Input(write("new.smi", "CO methanol\nCN\n")), {}, take);
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given[0], last_answers_[0]);
  EXPECT_EQ(model->read_test(write("test.sdf", sdf)).records, 2);
  EXPECT_THAT(refusal_of<DataError>([&] { model->read_test(write("odd.sdf", sdf_record("O", "> <logP>\nhigh\n"))); }),
              HasSubstr("molecule \"one\" (record 1): expected a number in the data item logP, not \"high\""));
}

TEST_F(MoleculeModel, RefusesTargetsAndColumnsThatAreNotThere) {
  const auto model = make("molecules");
  const DataPlaces places{{{write("molecules.csv", kMolecules)}, {}, {}}};
  EXPECT_THAT(refusal_of<UsageError>([&] { model->read_data(places); }),
              HasSubstr("the setting \"targets\" must name what is to be learnt"));
  EXPECT_THAT(refusal_of<UsageError>([&] { model->read_data(places); }), HasSubstr("\"id\", \"y\", \"smiles\", \"z\""));
  model->settings().at("targets").assign_text("x");
  EXPECT_THAT(refusal_of<UsageError>([&] { model->read_data(places); }), HasSubstr("has no column \"x\""));
  model->settings().at("targets").assign_text("y");
  model->settings().at("task").assign_text("classification");
  model->read_data(places);
  EXPECT_EQ(refusal_of<DataError>([&] { model->build(1); }),
            "molecules: targets are classes, and should be 0, 1 or blank, but others occur");
}

TEST(MoleculeModelWithoutRdkit, NamesThePackages) {
  if (data::rdkit_available()) GTEST_SKIP() << "built with RDKit";
  const auto model = make("molecules");
  EXPECT_THAT(
      refusal_of<UsageError>([&] { model->predict(data::Input::text("smiles\nC\n"), {}, [](const Value&) {}); }),
      HasSubstr("install librdkit-dev and libboost-dev"));
}

using PlanModel = testing::ModelFiles;

std::string estimates(const std::string& type, int rows, double time, const std::string& more = "") {
  return R"({"Node Type": ")" + type + R"(", "Plan Rows": )" + std::to_string(rows) +
         R"(, "Plan Width": 8, "Startup Cost": 0.5, "Total Cost": )" + std::to_string(rows * 1.5) +
         R"(, "Actual Total Time": )" + std::to_string(time) + R"(, "Actual Loops": 2)" + more + "}";
}

/// A join of two scans; the time is in proportion to the rows.
std::string plan_line(const std::string& query, int rows) {
  const std::string scans = estimates("Seq Scan", rows, rows * 0.01, R"(, "Relation Name": "a", "Filter": "x > 1")") +
                            "," + estimates("Index Scan", 1, 0.001);
  return R"({"query": ")" + query + R"(", "explain": {"Plan": )" +
         estimates("Hash Join", rows, rows * 0.02, R"(, "Join Type": "Inner", "Plans": [)" + scans + "]") +
         R"(, "Execution Time": )" + std::to_string(rows * 0.05) + "}}\n";
}

std::string plan_lines() {
  std::string lines;
  for (const int rows : {10, 100, 1000, 10000}) lines += plan_line("q" + std::to_string(rows), rows);
  return lines;
}

TEST_F(PlanModel, LearnsTimesFromEveryOperatorOrTheRoot) {
  for (const std::string loss : {"every", "root"}) {
    const auto metrics = learn("plans", {{{write("plans.jsonl", plan_lines())}, {}, {}}},
                               {{"hidden", "16"}, {"loss", loss}, {"min_count", "1"}}, 200, plan_lines(), true, 4);
    EXPECT_EQ(metrics[0].name, "q_error_mean");
    EXPECT_EQ(metrics[1].name, "q_error_median");
    EXPECT_EQ(metrics[2].name, "q_error_p95");
    EXPECT_FALSE(metrics[1].higher_is_better);
    EXPECT_LT(metrics[1].value, 1.3);
    EXPECT_GE(metrics[2].value, metrics[1].value);
    EXPECT_NEAR(std::log(data::parse_json(last_answers_[2]).at("milliseconds").as_float()), std::log(50), 0.5);
  }
  // Printed by psql over several lines, without measurements, and with an operator that never occurred.
  const auto model = load(folder_ / "run");
  const std::string printed =
      "[\n {\"Plan\":\n  {\"Node Type\": \"Sort\", \"Plan Rows\": 10, \"Plan Width\": 8,\n"
      "\"Startup Cost\": 0.5, \"Total Cost\": 15}\n }\n]\n";
  EXPECT_EQ(answers(*model, printed, false).size(), 1U);
  std::int64_t count = 0;
  model->predict(data::Input(write("plan.json", printed)), {.json_lines = true}, [&](const Value&) { ++count; });
  EXPECT_EQ(count, 1);
}

TEST_F(PlanModel, NeverDividesPlansOfAQuery) {
  std::string lines;
  for (int plan = 0; plan < 40; ++plan) lines += plan_line("q" + std::to_string(plan / 4), 10 + plan);
  const auto model = make("plans");
  model->settings().at("held_out").assign(Value(0.3));
  model->read_data({{{write("plans.jsonl", lines)}, {}, {}}});
  model->build(1);
  EXPECT_EQ(model->size(train::Split::kHeldOut), 12);
  EXPECT_EQ(model->size(train::Split::kTrain), 28);
  for (std::int64_t i = 0; i < 28; ++i)
    for (std::int64_t j = 0; j < 12; ++j) {
      const std::string a = model->text(train::Split::kTrain, i);
      const std::string b = model->text(train::Split::kHeldOut, j);
      EXPECT_NE(a.substr(0, a.find(':')), b.substr(0, b.find(':')));
    }
}

TEST_F(PlanModel, RefusesPlansThatWereNotMeasured) {
  const auto refusal = [&](std::string text, const std::string& loss) {
    const auto model = make("plans");
    model->settings().at("held_out").assign(Value(0));
    model->settings().at("loss").assign_text(loss);
    return refusal_of<DataError>([&] {
      model->read_data({{{write("plans.jsonl", text)}, {}, {}}});
      model->build(1);
    });
  };
  const auto without = [](std::string text, const std::string& key) {
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key)) text.replace(at, 6, "Former");
    return text;
  };
  const std::string line = plan_line("q", 10);
  EXPECT_THAT(refusal(without(line, "Actual"), "every"),
              HasSubstr("expected an \"Actual Total Time\" of every operator"));
  EXPECT_THAT(refusal(without(without(line, "Actual"), "Execut"), "root"),
              HasSubstr("plans.jsonl:1: expected a measured time, as EXPLAIN (ANALYZE, FORMAT JSON) gives it"));
  EXPECT_THAT(refusal(line + without(line, "Plan W"), "root"),
              HasSubstr("expected an operator with a number \"Plan Width\""));
}

TEST(PlanFeatures, AreKnownBeforeThePlanRuns) {
  const Value plan = data::parse_json(plan_line("q", 100)).at("explain").at("Plan");
  const PlanFeatures features(std::vector<Value>{plan}, {.min_count = 1});
  const QueryPlan encoded = features.encode(plan);
  ASSERT_EQ(encoded.nodes.size(), 3U);
  EXPECT_EQ(encoded.nodes[2].left, 0);
  EXPECT_EQ(encoded.nodes[2].right, 1);
  EXPECT_FLOAT_EQ(encoded.nodes[2].target, std::log(100 * 0.02F * 2)) << "milliseconds of all loops";
  for (const QueryPlan::Node& node : encoded.nodes) EXPECT_EQ(std::ssize(node.features), features.features());
  // Other measurements, the same features.
  std::string other = plan.to_text();
  for (const std::string key : {"\"Actual Total Time\":2.0", "\"Actual Total Time\":1.0"})
    if (const std::size_t at = other.find(key); at != std::string::npos) other.replace(at, key.size(), key + "7");
  const QueryPlan slower = features.encode(data::parse_json(other));
  EXPECT_NE(slower.nodes[2].target, encoded.nodes[2].target);
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(slower.nodes[n].features, encoded.nodes[n].features);
  const PlanFeatures again = PlanFeatures::from_value(features.to_value());
  EXPECT_EQ(again.encode(plan).nodes[0].features, encoded.nodes[0].features);
  EXPECT_EQ(
      refusal_of([&] { PlanFeatures::from_value(data::parse_json(R"({"kinds": [], "texts": [], "scales": []})")); }),
      "expected 10 scales of features, not 0");
}

TEST(PlanFeatures, GiveAKindThatNeverOccurredTheNetworkOfRareOnes) {
  const Value plan = data::parse_json(plan_line("q", 100)).at("explain").at("Plan");
  const PlanFeatures all_are_frequent(std::vector<Value>{plan}, {.min_count = 1});
  EXPECT_EQ(all_are_frequent.kinds(), 3) << "two kinds, and the rarest with all unknown ones";
  const Value sort = data::parse_json(estimates("Sort", 10, 1));
  EXPECT_EQ(all_are_frequent.encode(sort).nodes[0].kind, 0);
  EXPECT_EQ(PlanFeatures(std::vector<Value>{plan}, {.min_count = 2}).kinds(), 1);
  std::string deep = "{}";
  for (int level = 0; level < 1001; ++level)
    deep = estimates("Sort", 10, 1, level == 0 ? "" : R"(, "Plans": [)" + deep + "]");
  EXPECT_EQ(refusal_of([&] { all_are_frequent.encode(data::parse_json(deep)); }),
            "expected a plan of at most 1000 levels");
}

}  // namespace
}  // namespace espalier::models
