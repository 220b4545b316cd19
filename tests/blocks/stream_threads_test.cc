/// Streams of instances: lazily, in order, the same bits whatever the number of threads.
#include "espalier/blocks/stream.h"

#include <gtest/gtest.h>

#include <limits>
#include <ranges>
#include <string>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/nn/dropout.h"
#include "espalier/nn/lstm.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

Value sequence(int length) {
  std::vector<Value> items;
  for (int i = 0; i < length; ++i) items.push_back(Value::list({0.1 * i, 0.3, -0.2 * length}));
  return Value::list(items);
}

std::vector<Value> sequences(int count) {
  std::vector<Value> all;
  for (int i = 0; i < count; ++i) all.push_back(sequence(i * 7 % 5));
  return all;
}

struct Net {
  Model model;
  nn::LstmCell lstm{model / "lstm", 3, 8};
  Block states() const { return map(vector(3)) >> rnn(lstm) >> get(1) >> get(0); }
};

TEST(Stream, GivesResultsInOrder) {
  const Program program(scalar());
  std::vector<Value> inputs;
  for (int i = 0; i < 300; ++i) inputs.emplace_back(i);
  for (const int threads : {1, 2, 0}) {
    int next = 0;
    for (const Result& result : stream(program, inputs, {.batch = 7, .threads = threads}))
      EXPECT_EQ(result.item(), next++);
    EXPECT_EQ(next, 300);
  }
}

TEST(Stream, TakesNoMoreThanItComputesAtOnce) {
  const Program program = Program::of<int>(scalar());
  int made = 0;
  auto endless = std::views::iota(0) | std::views::transform([&](int i) {
                   ++made;
                   return i;
                 });
  int seen = 0;
  for (const Result& result : stream(program, endless, {.batch = 10})) {
    EXPECT_EQ(result.item(), seen++);
    EXPECT_LE(made, seen + 20);
    if (seen == 1000) break;
  }
}

TEST(Stream, GivesTheSameBitsWithAnyNumberOfThreads) {
  const Net net;
  const Program program(net.states() >> nn::Dropout(0.3));
  const std::vector<Value> inputs = sequences(100);
  std::string first;
  StepCounter counter;
  for (const int threads : {1, 2, 0}) {
    std::string all;
    counter.set_next(5);
    const StreamOptions options{
        .batch = 9, .threads = threads, .graph = {.seed = 3, .counter = &counter, .training = true}};
    for (const Result& result : stream(program, inputs, options)) all += to_value(result).to_text();
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << threads << " threads";
    EXPECT_EQ(counter.next(), 6U) << "one step, though it takes several graphs";
  }
}

TEST(Stream, TellsTheNumberOfTheInstanceThatIsRefused) {
  const Program program(scalar());
  std::vector<Value> inputs(50, 1);
  inputs[33] = "x";
  for (const int threads : {1, 2}) {
    const std::string text = testing::refusal_of([&] {
      for (const Result& result : stream(program, inputs, {.batch = 8, .threads = threads})) static_cast<void>(result);
    });
    EXPECT_EQ(text, "scalar(): expected a number, but got \"x\"\n  in instance 33");
  }
}

/// One metric with its label for each element, a tap for each list; the elements of list i are 10 i, 10 i + 1, ...
std::vector<Value> labelled_lists(int count) {
  std::vector<Value> all;
  for (int i = 0; i < count; ++i) {
    std::vector<Value> items;
    for (int j = 0; j < i * 7 % 5; ++j)
      items.push_back(Value::map({{"x", 10 * i + j}, {"label", std::to_string(10 * i + j)}}));
    all.push_back(Value::list(items));
  }
  return all;
}

TEST(Stream, GivesMetricsWithTheirLabelsAndTaps) {
  const auto twice = [](Expr x) { return x * 2; };
  const Block item = record({{"x", scalar() >> twice}, {"label", identity()}});
  const Block sum_of_all = map(get("x") >> scalar()) >> sum() >> tap("sum");
  const Program program(all_of({map(item >> metric("scores")) >> nothing(), sum_of_all}) >> get(1));
  const std::vector<Value> inputs = labelled_lists(60);
  for (const int threads : {1, 2, 0}) {
    std::size_t i = 0;
    for (const InstanceResult& result : stream(program, inputs, {.batch = 4, .threads = threads})) {
      const auto scores = result.metric("scores");
      ASSERT_EQ(scores.size(), inputs[i].size());
      double total = 0;
      for (std::size_t j = 0; j < scores.size(); ++j) {
        const double x = inputs[i][j].at("x").as_float();
        EXPECT_EQ(scores[j].value.item(), 2 * x);
        EXPECT_EQ(scores[j].label.input<Value>(), inputs[i][j].at("label"));
        total += x;
      }
      EXPECT_EQ(result.item(), total);
      ASSERT_EQ(result.tap("sum").size(), 1U);
      EXPECT_EQ(result.tap("sum")[0].value.item(), total);
      EXPECT_EQ(result.tap("sum")[0].label.type(), Type());
      EXPECT_TRUE(result.metric("sum").empty());
      ++i;
    }
    EXPECT_EQ(i, inputs.size());
  }
}

TEST(Stream, KeepsLabelsThatTheModelMade) {
  const Block spelled = input_transform([](int x) { return std::string(static_cast<std::size_t>(x), 'a'); });
  const Program program = Program::of<int>(all_of({scalar(), spelled}) >> metric("spelled"));
  std::vector<InstanceResult> all;
  for (const InstanceResult& result : stream(program, std::views::iota(20, 90), {.batch = 8, .threads = 2}))
    all.push_back(result);
  ASSERT_EQ(all.size(), 70U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].metrics.size(), 1U);
    EXPECT_EQ(all[i].metrics[0].label.input<std::string>(), std::string(20 + i, 'a'));
  }
}

TEST(Stream, RefusesOptionsThatMakeNoSense) {
  const Program program(scalar());
  const std::vector<Value> inputs{1};
  const auto text = [&](const StreamOptions& options) {
    return testing::refusal_of([&] {
      for (const Result& result : stream(program, inputs, options)) static_cast<void>(result);
    });
  };
  EXPECT_EQ(text({.batch = 0}), "stream: the batch size must be at least 1, but is 0");
  EXPECT_EQ(text({.batch = std::numeric_limits<std::int32_t>::max(), .threads = 2}), "nothing was refused");
  EXPECT_EQ(text({.threads = -1}), "stream: the number of threads must not be negative, but is -1");
}

TEST(AddGradients, GivesTheSameBitsWithAnyNumberOfThreads) {
  const Net net;
  const Program program(net.states() >> [](Expr h) { return sum(square(h), 0); } >> loss("square"));
  const std::vector<Value> inputs = sequences(40);
  const auto numbers = [&](int threads) {
    Gradients gradients;
    std::string text =
        std::to_string(add_gradients(program, inputs, gradients, {.batch = 6, .threads = threads, .graph = {}}));
    for (const Gradient* gradient : gradients.all())
      for (std::int64_t i = 0; i < gradient->values().elements(); ++i)
        text += " " + std::to_string(gradient->values().at(i) * 1e6);
    return text;
  };
  EXPECT_EQ(numbers(1), numbers(2));
  EXPECT_EQ(numbers(1), numbers(0));
}

TEST(AddGradients, TakesInstancesThatReachNoLoss) {
  Model model;
  Parameter& factor = model.add("factor", Shape{}, init::constant(2));
  const auto times = [](Expr a, Expr b) { return a * b; };
  const Program program(map(all_of({scalar(), factor}) >> function(times) >> loss("each")));
  const Value none = Value::list({});
  const std::vector<Value> inputs{none, Value::list({3}), none, none, Value::list({4, 5})};
  for (const int threads : {1, 2}) {
    const StreamOptions options{.batch = 1, .threads = threads, .graph = {}};
    Gradients gradients;
    EXPECT_NEAR(add_gradients(program, inputs, gradients, options), 2 * 12 / 5.0, 1e-6);
    EXPECT_NEAR(gradients.find(factor)->values().at(0), 12 / 5.0, 1e-6);
    const std::string tail = "program: cannot compute a loss: ";
    EXPECT_EQ(testing::refusal_of([&] {
                add_gradients(program, std::vector<Value>{none, none}, gradients, options);
              }),
              tail + "the inputs reach no loss() block");
    EXPECT_EQ(testing::refusal_of([&] { add_gradients(program, std::vector<Value>(), gradients, options); }),
              tail + "there are no inputs");
  }
}

TEST(AddGradients, IsTheGradientOfTheLoss) {
  const Net net;
  const Program program(net.states() >> [](Expr h) { return sum(square(h), 0); } >> loss("square"));
  const std::vector<Value> inputs = sequences(10);
  Gradients whole;
  Graph graph;
  const Expr loss_of_all = program.loss(graph, inputs);
  loss_of_all.backward({.into = &whole, .wanted = {}});
  Gradients parts;
  EXPECT_NEAR(add_gradients(program, inputs, parts, {.batch = 3, .graph = {}}), loss_of_all.scalar(), 1e-5);
  for (const Gradient* gradient : whole.all()) {
    const Gradient* same = parts.find(*gradient->parameter);
    ASSERT_NE(same, nullptr);
    for (std::int64_t i = 0; i < gradient->values().elements(); ++i)
      EXPECT_NEAR(same->values().at(i), gradient->values().at(i), 1e-5);
  }
}

}  // namespace
}  // namespace espalier::blocks
