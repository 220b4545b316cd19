/// Every model of espalier/models, with its own samples, and every network there, gives the same numbers by ONNX
/// Runtime. The Python weaver of examples/ makes the same inputs as ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/data/listops.h"
#include "espalier/data/molecule.h"
#include "espalier/models/lattice_net.h"
#include "espalier/models/listops.h"
#include "espalier/models/molecule_net.h"
#include "espalier/models/plan_net.h"
#include "espalier/models/relatedness_net.h"
#include "espalier/models/sentiment_net.h"
#include "espalier/models/standard_model.h"
#include "espalier/models/tagger_net.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/all.h"
#include "tests/models/random_instances.h"
#include "tests/onnx/cases.h"

namespace espalier::onnx {
namespace {

using models::Form;
using testing::expect_runtime_agrees;
using testing::OnnxFolder;
using testing::write_case;

const std::string kTrees =
    "(4 (2 It) (4 (2 is) (4 good)))\n(0 (2 It) (0 (2 is) (0 bad)))\n(0 (1 not) (4 good))\n"
    "(4 (1 not) (0 (2 (2 It) (2 is)) (0 (0 bad) (2 unseen))))\n(4 good)\n(3 (2 It) (2 is) (3 fine))\n";
const std::string kColumns =
    "Ann B-PER\nLee I-PER\nlives O\nin O\nRome B-LOC\n\nRome B-LOC\ncalls O\nAnn B-PER\n\nno O\n\n";
const std::string kCharacters =
    "南 B-LOC\n京 E-LOC\n市 O\n\n北 B-LOC\n京 E-LOC\n人 O\n\n南 O\n人 O\n京 O\n\n北 O\n市 O\n\n";

std::string json_lines() {
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    const std::string list = i % 3 == 0 ? "[]" : i % 3 == 1 ? "[1]" : R"([2, 3, {"w": "some words here"}])";
    lines += R"({"a": )" + std::to_string(i % 5) + R"(, "b": {"c": "k)" + std::to_string(i % 4) + R"("}, "l": )" +
             list + (i % 4 == 0 ? std::string(R"(, "t": {"t": {"x": 1}, "x": 2})") : std::string()) +
             R"(, "text": "one of many words number )" + std::to_string(i) + R"(", "y": ")" +
             (i % 3 == 0 ? "yes" : "no") + "\"}\n";
  }
  return lines;
}

std::string pair_lines() {
  const std::string a = R"({"words": ["two", "dogs", "sleep", "now"], "heads": [2, 3, 0, 3]})";
  const std::string b = R"({"words": ["dogs"], "heads": [0]})";
  std::string lines;
  for (int i = 0; i < 6; ++i)
    lines += R"({"a": )" + (i % 2 == 0 ? a : b) + R"(, "b": )" + (i % 3 == 0 ? a : b) + R"(, "score": )" +
             std::to_string(1 + i % 5) + "}\n";
  return lines;
}

const std::string kMolecules =
    "smiles,y,z\nC,1,0\nCC,2,1\n[Na+].[Cl-],0,1\nC=CC#N,3,0\nc1ccccc1O,6,1\nCC(C)(C)C(=O)NC1CC1,5,0\nO=S(=O)(O)O,4,1\n";

/// Operators with none to five inputs; of kind "Limit" there is always one.
std::string plan_lines() {
  std::string lines;
  const auto operator_of = [](const std::string& kind, const std::string& inputs) {
    return R"({"Node Type": ")" + kind + R"(", "Startup Cost": 1, "Total Cost": 5, "Plan Rows": 7, "Plan Width": 8, )" +
           R"("Actual Total Time": 0.5, "Actual Loops": 1, "Plans": [)" + inputs + "]}";
  };
  for (int i = 0; i < 6; ++i) {
    std::string inputs;
    for (int k = 0; k < i; ++k)
      inputs +=
          (k == 0 ? "" : ", ") + operator_of(k % 2 == 0 ? "Seq Scan" : "Sort", k < 2 ? operator_of("Sort", "") : "");
    const std::string root = operator_of(i % 2 == 0 ? "Append" : "Hash Join", inputs);
    lines += R"({"Plan": )" + operator_of("Limit", root) + R"(, "Execution Time": 2})" + "\n";
  }
  return lines;
}

class OnnxModels : public ::testing::Test {
 protected:
  /// A model of untrained weights, exported from its own samples, answers to its training data.
  void add(const std::string& name, const std::string& file, const std::string& data,
           const std::vector<std::pair<std::string, std::string>>& settings) {
    SCOPED_TRACE(name + " " + std::to_string(cases_));
    const std::unique_ptr<models::StandardModel> model = models::make(name);
    for (const auto& [key, value] : settings) model->settings().at(key).assign_text(value);
    model->settings().at("held_out").assign(Value(0));
    write_file_atomically(folder_ / file, data);
    model->read_data({{{folder_ / file}, {}, {}}});
    model->build(3);
    Graph graph({.training = false});
    std::string lines;
    for (const Value& record : model->samples()) lines += record.to_text() + "\n";
    ASSERT_FALSE(lines.empty());
    const auto record = [&](data::Input input, bool json) {
      std::vector<Instance> instances;
      for (const Expr& output : model->record_outputs(graph, std::move(input), {.json_lines = json}, 1'000))
        instances.push_back({output});
      return instances;
    };
    write_case(folder_ / (name + std::to_string(cases_++)), {"scores"}, record(data::Input::text(lines), true),
               record(data::Input(folder_ / file), file.ends_with(".jsonl")));
  }

  OnnxFolder folder_;
  int cases_ = 0;
};

TEST_F(OnnxModels, OnnxRuntimeComputesAllThatTheCommandTrains) {
  for (const char* cell : {"tree_lstm", "tree_gru", "tree_rnn", "mv_rnn"})
    add("sentiment", "trees.txt", kTrees, {{"embedding", "6"}, {"hidden", "6"}, {"cell", cell}});
  for (const char* characters : {"all", "rare", "none"})
    add("tagger", "names.conll", kColumns,
        {{"embedding", "6"}, {"hidden", "5"}, {"characters", characters}, {"min_count", "1"}, {"rare", "1"}});
  for (const char* lists : {"sequences", "bags"})
    for (const char* task : {"classification", "auto"})
      add("json", "records.jsonl", json_lines(), {{"label", "y"}, {"hidden", "6"}, {"lists", lists}, {"task", task}});
  add("relatedness", "pairs.jsonl", pair_lines(), {{"embedding", "6"}, {"hidden", "5"}, {"similarity", "4"}});
  write_file_atomically(folder_ / "words.txt", "南京 10 ns\n北京 20 ns\n上海 5 ns\n京 3 n\n");
  for (const char* merge : {"gates", "sum"})
    add("lattice", "names.bmes", kCharacters,
        {{"embedding", "6"}, {"hidden", "5"}, {"merge", merge}, {"lexicon", (folder_ / "words.txt").string()}});
  for (const char* min_count : {"1", "5"})
    add("plans", "plans.jsonl", plan_lines(), {{"hidden", "6"}, {"min_count", min_count}});
  expect_runtime_agrees(folder_, cases_);
}

TEST_F(OnnxModels, OnnxRuntimeComputesMoleculesInEveryNetwork) {
  if (!data::rdkit_available()) GTEST_SKIP() << "built without RDKit (librdkit-dev, libboost-dev)";
  for (const char* network : {"message_passing", "weave"})
    for (const char* readout : {"mean", "sum"})
      for (const char* rounds : {"1", "3"})
        add("molecules", "molecules.csv", kMolecules,
            {{"targets", "y,z"}, {"hidden", "6"}, {"network", network}, {"readout", readout}, {"rounds", rounds}});
  expect_runtime_agrees(folder_, cases_);
}

TEST(OnnxParser, SaysWhyItHasNoStaticGraph) {
  EXPECT_THAT(std::string(models::make("parser")->why_not_exported()), ::testing::HasSubstr("depends on the scores"));
  for (const std::string_view name : models::names())
    EXPECT_EQ(models::make(name)->why_not_exported().empty(), name != "parser") << name;
}

/// Instances of a network in one form are samples and instances at once.
template <class Net, class Output>
void add_network(const std::filesystem::path& folder, const Net& net, int count, const Output& output) {
  Graph graph({.training = false});
  std::vector<Instance> instances;
  for (int i = 0; i < count; ++i) {
    graph.begin_instance();
    instances.push_back({output(graph, net)});
  }
  write_case(folder, {"y"}, instances, instances);
}

TEST(OnnxNetworks, OnnxRuntimeComputesThemNodeByNodeAndAsRows) {
  using namespace models::testing;  // NOLINT(google-build-using-namespace): random instances
  const OnnxFolder folder;
  int cases = 0;
  for (const Form form : {Form::kRows, Form::kNodes}) {
    const auto place = [&](const std::string& name) { return folder / (name + std::to_string(cases++)); };
    Random random(5);
    for (const char* cell : {"tree_lstm", "tree_gru", "tree_rnn", "mv_rnn"}) {
      Model model(2);
      const models::SentimentNet net(model, {.cell = cell, .embedding = 6, .hidden = 6}, 12, std::nullopt, form);
      add_network(place("sentiment"), net, 8, [&](Graph& graph, const auto& of) {
        return of.scores(graph, random_tree(random, 1 + below(random, 9), 12, 5));
      });
    }
    Model of_tagger(2);
    const models::TaggerNet tagger(of_tagger,
                                   {.embedding = 6, .hidden = 5, .character_embedding = 4, .character_hidden = 3},
                                   {.words = 11, .characters = 7, .tags = 4}, std::nullopt, form);
    add_network(place("tagger"), tagger, 8, [&](Graph& graph, const auto& net) {
      return net.scores(graph, random_sentence(random, 1 + below(random, 9), 11, 4, 7));
    });
    Model of_pairs(2);
    const models::RelatednessNet pairs(of_pairs, {.embedding = 4, .hidden = 6, .similarity = 5}, 10, std::nullopt,
                                       form);
    add_network(place("relatedness"), pairs, 8, [&](Graph& graph, const auto& net) {
      return net.distribution(graph, {.a = random_dependencies(random, 1 + below(random, 9), 10),
                                      .b = random_dependencies(random, 1 + below(random, 9), 10)});
    });
    for (const char* merge : {"gates", "sum"}) {
      Model of_lattice(2);
      const models::LatticeNet lattice(of_lattice, {.merge = merge, .embedding = 4, .hidden = 5},
                                       {.characters = 7, .words = 9, .tags = 3}, form);
      add_network(place("lattice"), lattice, 8, [&](Graph& graph, const auto& net) {
        return net.scores(graph, random_lattice(random, 1 + below(random, 9), 7, 9));
      });
    }
  }
  expect_runtime_agrees(folder, cases);
}

TEST(OnnxNetworks, OnnxRuntimeComputesMoleculesPlansAndLists) {
  using namespace models::testing;  // NOLINT(google-build-using-namespace): random instances
  const OnnxFolder folder;
  Random random(5);
  for (const char* network : {"message_passing", "weave"}) {
    Model model;
    const models::MoleculeNet net(model, {.network = network, .hidden = 6, .rounds = 2}, {.atoms = 4, .bonds = 2});
    add_network(folder / network, net, 8, [&](Graph& graph, const auto& of) {
      return of.output(graph, random_molecule(random, 1 + below(random, 9), 4, 0));
    });
  }
  std::vector<models::QueryPlan> plans;
  for (int i = 0; i < 8; ++i) plans.push_back(random_plan(random, 1 + below(random, 12), 3));
  for (const Form form : {Form::kRows, Form::kNodes}) {
    Model model;
    const models::PlanNet net(model, {.hidden = 5}, models::PlanNet::children_by_kind(plans, 3), 3, form);
    std::size_t next = 0;
    add_network(folder / (form == Form::kRows ? "plans" : "plan_nodes"), net, 8,
                [&](Graph& graph, const auto& of) { return of.time(graph, plans[next++]); });
  }
  const models::ListOpsNet net({.embedding = 6, .hidden = 5}, 1);
  const std::vector<data::Tree> trees = data::generate_listops({}, 6);
  std::size_t next = 0;
  add_network(folder / "listops", net, 6, [&](Graph& graph, const auto& of) { return of(graph, trees[next++]); });
  expect_runtime_agrees(folder, 5);
}

// --- the Python weaver
// -------------------------------------------------------------------------------------------------

Value list_of(const auto& numbers) {
  std::vector<Value> items;
  for (const auto& number : numbers) items.emplace_back(number);
  return Value::list(std::move(items));
}

Value value_of(const NodeList& nodes) {
  std::vector<Value::Entry> rows;
  for (const auto& [width, numbers] : nodes.rows) rows.push_back({std::to_string(width), list_of(numbers)});
  std::vector<Value> outputs;
  for (const auto& output : nodes.outputs) outputs.push_back(list_of(output));
  return Value::map({{"signatures", list_of(nodes.signatures)},
                     {"operands", list_of(nodes.operands)},
                     {"operand_ends", list_of(nodes.operand_ends)},
                     {"fields", list_of(nodes.fields)},
                     {"numbers", list_of(nodes.numbers)},
                     {"rows", Value::map(std::move(rows))},
                     {"outputs", Value::list(std::move(outputs))}});
}

TEST(OnnxPythonWeaver, MakesTheSameInputsAsOurs) {
  const std::string python = testing::python_with("numpy");
  if (python.empty()) GTEST_SKIP() << "Python has no numpy: ESPALIER_ONNX_PYTHON can name another interpreter";
  const OnnxFolder folder;
  Model model(2);
  const models::SentimentNet trees(model, {.embedding = 6, .hidden = 6}, 12);
  const nn::Linear of_sum(model / "sum", 5, 3);
  Random random(5);
  Graph graph({.training = false});
  std::vector<Instance> instances;
  for (std::int32_t i = 0; i < 70; ++i) {
    graph.begin_instance();
    const Expr scores = trees.scores(graph, models::testing::random_tree(random, 1 + i, 12, 5));
    const std::vector<float> features{1, 2, static_cast<float>(i), 4, 0.5F};
    const Expr total = mean({scores, graph.input({5}, features) * (0.5 * i), sum({scores, tanh(scores)})});
    instances.push_back({of_sum(total), pick(total, i % 5)});
  }
  write(folder / "model.onnx", {"y", "picked"}, instances);
  const Weaver weaver(folder / "model.onnx");
  testing::write_feeds(folder / "feeds", weaver.weave(instances)[0].feeds);
  write_file_atomically(folder / "nodes.json", value_of(weaver.read(instances)).to_text());
  write_file_atomically(folder / "format.json", weaver.metadata("espalier.schedule"));
  const testing::Answer answer = testing::run("\"" + python +
                                              "\" \"" ESPALIER_SOURCE_DIR
                                              "/tests/onnx/weaver_agrees.py\" \"" ESPALIER_SOURCE_DIR "/examples\" \"" +
                                              folder.path().string() + "\"");
  EXPECT_EQ(answer.text, "7 inputs are the same, 5 damaged lists are refused\n");
}

TEST(OnnxPythonWeaver, ScoresTheTreesOfAFileAsPredictDoes) {
  const std::string python = testing::python_with("onnxruntime, numpy");
  if (python.empty()) GTEST_SKIP() << testing::kNoRuntime;
  const OnnxFolder folder;
  const std::unique_ptr<models::StandardModel> model = models::make("sentiment");
  model->settings().at("embedding").assign_text("6");
  model->settings().at("hidden").assign_text("5");
  model->settings().at("held_out").assign(Value(0));
  write_file_atomically(folder / "trees.txt", kTrees);
  model->read_data({{{folder / "trees.txt"}, {}, {}}});
  model->build(3);
  Graph graph({.training = false});
  std::vector<Instance> instances;
  std::string expected;
  for (const Expr& scores : model->record_outputs(graph, data::Input(folder / "trees.txt"), {}, 100)) {
    instances.push_back({scores});
    const Tensor value = scores.value();
    for (std::int64_t k = 0; k < value.elements(); ++k) {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "%s%.4f", k == 0 ? "" : " ", value.at(k));
      expected += text.data();
    }
    expected += "\n";
  }
  write(folder / "model.onnx", {"scores"}, instances,
        {.metadata = {{"espalier.model", model->description().to_text()}}});
  EXPECT_EQ(testing::run("\"" + python + "\" \"" ESPALIER_SOURCE_DIR "/examples/onnx_weaver.py\" \"" +
                         (folder / "model.onnx").string() + "\" \"" + (folder / "trees.txt").string() + "\"")
                .text,
            expected);
}

}  // namespace
}  // namespace espalier::onnx
