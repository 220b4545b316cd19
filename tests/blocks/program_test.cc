/// Programs: recording, losses, metrics, taps, dropout, several over one set of weights.
#include "espalier/blocks/program.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "espalier/nn/dropout.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/optim/sgd.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

Value numbers(std::vector<double> list) {
  std::vector<Value> items(list.begin(), list.end());
  return Value::list(items);
}

TEST(Eval, GivesEveryKindOfOutput) {
  EXPECT_EQ(eval(scalar(), 2).item(), 2);
  EXPECT_EQ(eval(map(map(scalar())), Value::list({numbers({1, 2}), numbers({})})).size(), 2U);
  EXPECT_EQ(eval(get("a"), Value::map({{"a", "text"}})).input<Value>(), Value("text"));
  EXPECT_EQ(eval(scalar() >> broadcast(), 3)[0].item(), 3);
  EXPECT_EQ(eval(nothing(), 3).type(), Type());
  EXPECT_EQ(eval(input_transform([](int x) { return std::string(static_cast<std::size_t>(x), 'a'); }), 3)
                .input<std::string>(),
            "aaa");
}

TEST(Program, RecordsIntoAGraphOfTheUser) {
  const Program program(record({map(scalar()), all_of({scalar(), scalar()})}));
  Graph graph;
  const Output output = program.record(graph, Value::list({numbers({1, 2}), 5}));
  const auto [list, pair] = output.as<std::tuple<std::vector<Expr>, std::pair<Expr, Expr>>>();
  EXPECT_EQ((sum(list) * pair.second).scalar(), 15);
  EXPECT_EQ(output.leaves().size(), 4U);
}

TEST(Program, LeavesMakeTheSameTreeAgain) {
  const Result result = eval(record({map(scalar()), scalar()}), Value::list({numbers({1, 2}), 5}));
  const Result again = result.with_leaves(result.leaves());
  EXPECT_EQ(to_value(again).to_text(), to_value(result).to_text());
  EXPECT_THROW(static_cast<void>(result.with_leaves({Tensor()})), UsageError);
}

TEST(Program, BeginsInstancesAsPlainCodeDoes) {
  Model model;
  const nn::Linear layer(model / "layer", 3, 4);
  const nn::Dropout dropout(0.5);
  const Program program(vector(3) >> layer >> dropout >> [](Expr x) { return sum(tanh(x), 0); } >> loss("all"));
  const std::vector<Value> inputs{numbers({1, 2, 3}), numbers({4, 5, 6}), numbers({1, 2, 3})};
  const GraphOptions options{.seed = 5, .step = 7};
  Graph by_blocks(options);
  const double ours = program.loss(by_blocks, inputs).scalar();
  Graph by_hand(options);
  std::vector<Expr> losses;
  for (const Value& input : inputs) {
    by_hand.begin_instance();
    Tensor x({3});
    for (std::size_t i = 0; i < 3; ++i) x.set(static_cast<std::int64_t>(i), input[i].as_float());
    losses.push_back(sum(tanh(dropout(layer(by_hand.input(x)))), 0));
  }
  EXPECT_EQ(ours, (sum(losses) * (1 / 3.0)).scalar());
  EXPECT_EQ(by_blocks.instances(), 3);
}

TEST(Program, KeysChooseTheMasks) {
  const Program program(vector(3) >> nn::Dropout(0.5));
  const std::vector<Value> inputs(2, numbers({1, 1, 1}));
  const auto masks = [&](const InstanceOptions& options) {
    Graph graph({.step = 0});
    std::string text;
    for (const Output& output : program.record_all(graph, inputs, options).outputs)
      text += output.leaf().value().to_string();
    return text;
  };
  EXPECT_EQ(masks({}), masks({.first_key = 0}));
  EXPECT_NE(masks({}), masks({.first_key = 100}));
}

TEST(Program, SharesWeightsWithOthers) {
  Model model;
  const nn::Linear layer(model / "layer", 2, 1);
  const Block encode = vector(2) >> layer;
  const Program with_loss(encode >> [](Expr y) { return square(sum(y, 0)); } >> loss("square"));
  const Program plain(vector(2) >> layer);
  const std::vector<Value> inputs{numbers({1, 2}), numbers({2, -1})};
  optim::Sgd optimizer(model, {.learning_rate = 0.05});
  const double before = plain.eval(inputs[0]).item();
  for (int i = 0; i < 200; ++i) {
    Graph graph;
    with_loss.loss(graph, inputs).backward();
    optimizer.step();
  }
  EXPECT_GT(std::abs(before), 0.01);
  EXPECT_NEAR(plain.eval(inputs[0]).item(), 0, 1e-3);
}

TEST(Loss, AddsUpWithWeights) {
  const Block model = map(scalar() >> all_of({loss("a"), loss("b", 10)}));
  const Program program(model);
  Graph graph;
  EXPECT_EQ(program.loss(graph, std::vector<Value>{numbers({1, 2}), numbers({3})}).scalar(), 33);
  const Recording recording = program.record_all(graph, std::vector<Value>{numbers({1, 2})});
  EXPECT_EQ(recording.loss->scalar(), 33);
}

TEST(Loss, CountsAResultAsOftenAsItIsGiven) {
  const Block twice = [](Expr x) { return square(x); } >> all_of({loss("a"), loss("b"), loss("c", 2)});
  const Program program(scalar() >> twice);
  Graph graph;
  EXPECT_EQ(program.loss(graph, std::vector<Value>{Value(3)}).scalar(), 36);
}

TEST(Metric, CollectsAnyNumberWithLabels) {
  const Block model = map(record({{"x", scalar()}, {"label", identity()}}) >> metric("scores"));
  const Program program(model);
  const auto item = [](double x, const char* label) { return Value::map({{"x", x}, {"label", label}}); };
  const std::vector<Value> inputs{Value::list({item(1, "a"), item(2, "b")}), Value::list({}),
                                  Value::list({item(3, "c")})};
  Graph graph;
  const Recording recording = program.record_all(graph, inputs);
  std::string all;
  for (const Recording::Entry& entry : recording.metric("scores"))
    all += std::to_string(entry.instance) + entry.label.input<Value>().to_text() +
           std::to_string(static_cast<int>(entry.value.leaf().scalar())) + " ";
  EXPECT_EQ(all, "0\"a\"1 0\"b\"2 2\"c\"3 ");
  EXPECT_TRUE(recording.metric("other").empty());
}

TEST(Tap, ShowsWhatFlowsThrough) {
  const Block model = map(scalar() >> tap("each") >> [](Expr x) { return x * 2; }) >> sum();
  Graph graph;
  const Recording recording = Program(model).record_all(graph, std::vector<Value>{numbers({1, 2})});
  ASSERT_EQ(recording.tap("each").size(), 2U);
  EXPECT_EQ(recording.tap("each")[1].value.leaf().scalar(), 2);
  EXPECT_EQ(recording.outputs[0].leaf().scalar(), 6);
}

TEST(Watch, ShowsNamedBlocksByNameAndPath) {
  const auto twice = [](Expr x) { return x * 2; };
  const Block inner = named("inner", scalar() >> named("twice", twice));
  const Program program(named("model", map(inner)), {.watch = {"model / inner / twice", "inner"}});
  Graph graph;
  const Recording recording = program.record_all(graph, std::vector<Value>{numbers({1, 2})});
  EXPECT_EQ(recording.tap("model / inner / twice").size(), 2U);
  EXPECT_EQ(recording.tap("model / inner").size(), 2U);
  EXPECT_EQ(recording.tap("model / inner / twice")[1].value.leaf().scalar(), 4);
}

TEST(Describe, ShowsTheWholeWiringWithTypes) {
  const Block model =
      named("model", record({{"a", scalar()}, {"b", map(vector(2)) >> sum()}}) >> concat()).takes("input<Value>");
  EXPECT_EQ(model.describe(),
            "pipe \"model\" : input<Value> -> float[3]\n"
            "  record(\"a\", \"b\") : input<Value> -> (float[], float[2])\n"
            "    a: scalar() : input<Value> -> float[]\n"
            "    b: pipe : input<Value> -> float[2]\n"
            "      map() : input<Value> -> seq<float[2]>\n"
            "        vector(2) : input<Value> -> float[2]\n"
            "      sum() : seq<float[2]> -> float[2]\n"
            "  concat() : (float[], float[2]) -> float[3]\n");
}

TEST(Describe, HasALabelForEveryBlock) {
  const std::vector<std::pair<Block, std::string>> all{
      {scalar(), "scalar()"},
      {vector(3), "vector(3)"},
      {tensor({2, 3}), "tensor([2, 3])"},
      {one_hot(0, 10), "one_hot(0, 10)"},
      {one_hot({1, 2}), "one_hot(2 elements)"},
      {input_transform([](int x) { return x; }), "input_transform()"},
      {get("a"), "get(\"a\")"},
      {get(2), "get(2)"},
      {lookup(Vocabulary({"a"})), "lookup(1 words)"},
      {record({scalar()}), "record(1 blocks)"},
      {all_of({scalar()}), "all_of(1 blocks)"},
      {identity(), "identity()"},
      {nothing(), "nothing()"},
      {Composition("c"), "composition \"c\""},
      {function([](Expr x) { return x; }), "function()"},
      {from_tensor(Tensor({2})), "from_tensor([2])"},
      {concat(), "concat()"},
      {concat({.axis = 1}), "concat(axis 1)"},
      {zeros(), "zeros()"},
      {map(scalar()), "map()"},
      {fold([](Expr a, Expr b) { return a + b; }, zeros()), "fold()"},
      {sum(), "sum()"},
      {min(), "min()"},
      {max(), "max()"},
      {mean(), "mean()"},
      {broadcast(), "broadcast()"},
      {zip(), "zip()"},
      {ngrams(2), "ngrams(2)"},
      {nth(), "nth()"},
      {length(), "length()"},
      {slice({.start = 1, .step = 2}), "slice({.start = 1, .step = 2})"},
      {pad(1, 0), "pad(1, 0)"},
      {stack(4), "stack(4)"},
      {one_of(itself(), {{1, scalar()}}), "one_of(1 cases)"},
      {optional(scalar()), "optional()"},
      {forward("f")(), "forward() \"f\""},
      {shared(scalar()), "shared()"},
      {metric("m"), "metric(\"m\")"},
      {loss("l"), "loss(\"l\")"},
      {tap("t"), "tap(\"t\")"}};
  for (const auto& [block, label] : all) EXPECT_EQ(block.label(), label);
}

}  // namespace
}  // namespace espalier::blocks
