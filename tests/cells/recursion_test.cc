/// Recursions: cells over structures that are given as data, against a use of a cell for every row.
#include "espalier/cells/recursion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "espalier/exec/gradients.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/ops/product_log.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refusal.h"

namespace espalier::recursions {
namespace {

using ::testing::HasSubstr;

using In = std::span<const Expr>;

/// Four kinds: two leaves with unlike networks, one of which has no weights of its own; one child; two children and x.
/// A state is a pair, of which one part is multiplied and the other is not.
struct Net {
  Model model{11};
  nn::Linear leaf{model / "leaf", 5, 6};
  nn::Linear one{model / "one", 6, 6};
  nn::Linear two{model / "two", 5 + 6 + 6, 6};
  nn::Linear head{model / "head", 6, 3};
  Recursion recursion{
      "net",
      {{"leaf", 0, [this](In in) { return std::pair(tanh(leaf(in[0])), sigmoid(leaf(in[0]))); }},
       {"other leaf", 0, [this](In in) { return std::pair(relu(leaf(in[0])), leaf(tanh(in[0]))); }},
       {"one", 1, [this](In in) { return std::pair(tanh(one(in[0]) + in[1]), in[0] * in[1]); }, TakesX::kNo},
       {"two", 2, [this](In in) {
          const Expr m = two(concat({in[0], in[1], in[3]}, 0));
          return std::pair(tanh(m), sigmoid(m) * (in[2] + in[4]));
        }}}};
};

struct Instance {
  std::vector<float> x;  // five a row
  Structure structure;
};

/// A DAG or a tree, in which children come first, last, or in any order.
Instance random_instance(std::mt19937& random, bool is_tree) {
  const auto draw = [&](int below) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(below)); };
  const std::int32_t size = 1 + draw(9);
  std::vector<std::int32_t> number(static_cast<std::size_t>(size));  // of rows, in the structure
  for (std::int32_t r = 0; r < size; ++r) number[static_cast<std::size_t>(r)] = r;
  switch (draw(3)) {
    case 0: break;
    case 1: std::reverse(number.begin(), number.end()); break;
    default: std::shuffle(number.begin(), number.end(), random);
  }
  struct Row {
    std::int32_t kind = 0;
    std::vector<std::int32_t> children;
  };
  std::vector<Row> rows(static_cast<std::size_t>(size));
  std::vector<std::int32_t> free;
  for (std::int32_t r = 0; r < size; ++r) {
    Row row;
    const auto take = [&] {
      if (!is_tree) return draw(r);
      const std::int32_t child = free.back();
      free.pop_back();
      return child;
    };
    const std::int32_t most =
        is_tree ? static_cast<std::int32_t>(std::min<std::size_t>(free.size(), 2)) : std::min(r, 2);
    const std::int32_t children = draw(most + 1);
    row.kind = children == 0 ? draw(2) : children + 1;
    for (std::int32_t c = 0; c < children; ++c) row.children.push_back(number[static_cast<std::size_t>(take())]);
    free.push_back(r);
    rows[static_cast<std::size_t>(number[static_cast<std::size_t>(r)])] = row;
  }
  Instance instance;
  for (std::int32_t i = 0; i < 5 * (size + 2); ++i) instance.x.push_back(static_cast<float>(draw(100)) / 50 - 1);
  for (const Row& row : rows) instance.structure.add(KindId{row.kind}, draw(size + 2), row.children);
  return instance;
}

TEST(Recursion, AgreesWithItsRowsOneByOne) {
  std::mt19937 random(1);
  for (int time = 0; time < 40; ++time) {
    const Net net;
    std::vector<Instance> instances;
    for (int i = 0; i < 1 + time % 6; ++i) instances.push_back(random_instance(random, time % 2 == 0));
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<Expr> losses;
      for (const Instance& instance : instances) {
        graph.begin_instance();
        inputs.push_back(graph.rows({5}, instance.x));
        const std::vector<Expr> states = net.recursion(tanh(inputs.back()), instance.structure);
        EXPECT_EQ(states.size(), 2U);
        EXPECT_EQ(states[0].row_count(), instance.structure.size());
        losses.push_back(sum(net.head(states[0]), 0));
        if (time % 3 == 0) losses.push_back(sum(states[1] * states[0], 0));
        if (time % 3 == 1 && inputs.size() % 2 == 1) losses.push_back(sum(row(states[1], 0), 0));
      }
      return sum(losses);
    });
  }
}

TEST(Recursion, HasItsDerivativesInFloat64) {
  std::mt19937 random(8);
  Net net;
  testing::randomise(net.model);
  const Instance instance = random_instance(random, false);
  testing::check_gradients(net.model, [&](Graph& graph) {
    const std::vector<Expr> states = net.recursion(graph.rows({5}, instance.x), instance.structure);
    return testing::asymmetric_sum(sum({states[0] * states[1]})) + sum({sum(net.head(states[0]), 0)});
  });
}

TEST(Recursion, IsOneStepForAllInstances) {
  std::mt19937 random(4);
  const Net net;
  Graph graph;
  std::vector<Expr> losses;
  for (int i = 0; i < 50; ++i) {
    graph.begin_instance();
    const Instance instance = random_instance(random, true);
    losses.push_back(sum(net.recursion(graph.rows({5}, instance.x), instance.structure)[0], 0));
  }
  sum(losses).backward();
  EXPECT_EQ(graph.statistics().steps, 3);
  EXPECT_EQ(graph.statistics().bound, 3);
}

TEST(Recursion, MayFollowAnother) {
  std::mt19937 random(9);
  Net net;
  std::vector<Instance> instances;
  for (int i = 0; i < 6; ++i) instances.push_back(random_instance(random, true));
  const nn::Linear back(net.model / "back", 6, 5);
  testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>&) {
    std::vector<Expr> losses;
    for (const Instance& instance : instances) {
      Expr x = graph.rows({5}, instance.x);
      for (int depth = 0; depth < 3; ++depth) {
        const Expr state = net.recursion(x, instance.structure)[0];
        losses.push_back(sum(state, 0));
        std::vector<Expr> again{back(state), x};  // as many rows as before, at least
        x = rows(again);
      }
    }
    return sum(losses);
  });
}

TEST(Recursion, GoesBackThroughSomeInstancesAlone) {
  std::mt19937 random(21);
  const Net net;
  std::vector<Instance> instances;
  for (int i = 0; i < 7; ++i) instances.push_back(random_instance(random, true));
  testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> losses;
    std::vector<Expr> others;
    for (std::size_t i = 0; i < instances.size(); ++i) {
      inputs.push_back(graph.rows({5}, instances[i].x));
      const Expr state = net.recursion(inputs.back(), instances[i].structure)[0];
      (i % 3 == 1 ? others : losses).push_back(sum(state * state, 0));
    }
    inputs.resize(1);
    sum(others).value();
    for (const Expr& other : others) losses.push_back(other);
    sum({sum(losses), losses[0], sum(others)}).value();  // all of them in one run, or two
    losses.resize(3);
    return sum({sum({losses[0]}), sum({losses[1]}), sum({losses[2]})});
  });
}

TEST(Recursion, GivesTheSameInInference) {
  std::mt19937 random(5);
  const Net net;
  std::vector<Instance> instances;
  for (int i = 0; i < 9; ++i) instances.push_back(random_instance(random, i % 2 == 0));
  const auto outputs_of = [&](const GraphOptions& options) {
    Graph graph(options);
    std::vector<Expr> outputs;
    for (const Instance& instance : instances) {
      const std::vector<Expr> states = net.recursion(graph.rows({5}, instance.x), instance.structure);
      outputs.push_back(net.head(row(states[0], instance.structure.size() - 1)));
      outputs.push_back(states[1]);
    }
    return testing::finished_values(graph, outputs);
  };
  testing::expect_near(outputs_of({}), outputs_of({.execution = Execution::kPlain}), "finish");
}

TEST(Recursion, RunsOverSequencesFromBothEnds) {
  const Structure forward = Structure::sequence(3);
  EXPECT_THAT(forward.children(0), ::testing::ElementsAre(Structure::kMissing));
  EXPECT_THAT(forward.children(2), ::testing::ElementsAre(1));
  const Structure backward = Structure::sequence(3, KindId{0}, /*from_end=*/true);
  EXPECT_THAT(backward.children(2), ::testing::ElementsAre(Structure::kMissing));
  EXPECT_THAT(backward.children(0), ::testing::ElementsAre(1));
  EXPECT_THAT(Structure::sequence(1).children(0), ::testing::ElementsAre(Structure::kMissing));
  const Recursion sums("sums", {{"element", 1, [](In in) { return in[0] + in[1]; }}}, {{1}});
  for (const bool expand : {false, true}) {
    Graph graph({.expand_cells = expand});
    const Expr x = graph.rows({1}, std::vector<float>{1, 2, 3});
    EXPECT_EQ(sums(x, forward)[0].value().at(2), 6);
    EXPECT_EQ(sums(x, backward)[0].value().at(0), 6);
    EXPECT_EQ(sums(x, backward)[0].value().at(2), 3);
  }
}

TEST(Recursion, GoesThroughLongSequences) {
  constexpr std::int32_t kLength = 300'000;
  Model model;
  const nn::Linear linear(model / "linear", 2, 1);
  const Recursion last("last", {{"element", 1, [&](In in) { return tanh(linear(concat(in, 0))); }}}, {{1}});
  Graph graph;
  const Expr states = last(graph.rows({1}, std::vector<float>(kLength, 0.5F)), Structure::sequence(kLength))[0];
  const Expr loss = sum(row(states, kLength - 1), 0);
  loss.backward();
  EXPECT_EQ(states.row_count(), kLength);
  EXPECT_TRUE(std::isfinite(loss.scalar()));
}

TEST(Recursion, TakesMissingChildrenForZeros) {
  const std::vector<std::int32_t> nobody{Structure::kMissing};
  std::mt19937 random(17);
  for (int time = 0; time < 20; ++time) {
    const Net net;
    std::vector<Instance> instances;
    for (int i = 0; i < 5; ++i) {
      const Instance whole = random_instance(random, time % 2 == 0);
      Instance instance{whole.x, {}};
      instance.structure.add(KindId{time % 4 < 2 ? 0 : 2}, 0, time % 4 < 2 ? std::vector<std::int32_t>{} : nobody);
      for (std::int32_t r = 0; r < whole.structure.size(); ++r) {
        std::vector<std::int32_t> children;
        for (const std::int32_t child : whole.structure.children(r))
          children.push_back(random() % 3 == 0 ? Structure::kMissing : child + 1);
        instance.structure.add(whole.structure.kind(r), whole.structure.x(r), children);
      }
      instances.push_back(instance);
    }
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<Expr> losses;
      for (const Instance& instance : instances) {
        inputs.push_back(graph.rows({5}, instance.x));
        const std::vector<Expr> states = net.recursion(inputs.back(), instance.structure);
        losses.push_back(sum(states[0] * states[1] + states[0], 0));
      }
      return sum(losses);
    });
  }
}

TEST(Recursion, WithRandomNumbersHasThoseOfItsRows) {
  const Recursion drops("drops", {{"element", 1, [](In in) { return dropout(in[0] + in[1], 0.5); }}}, {{8}});
  const auto value_of = [&](const GraphOptions& options) {
    Graph graph(options);
    return drops(graph.rows({8}, std::vector<float>(24, 1)), Structure::sequence(3))[0].value();
  };
  const Tensor given = value_of({.seed = 2, .step = 1});
  const Tensor expected = value_of({.seed = 2, .step = 1, .execution = Execution::kPlain});
  for (std::int64_t i = 0; i < given.elements(); ++i) EXPECT_EQ(given.at(i), expected.at(i));
}

/// Chains that read the same x and not each other, from both ends; one more kind that reads x may be among them. The
/// products of the chains' x run for all heights at once.
struct Chains {
  Model model{3};
  nn::LstmCell forward{model / "forward", 5, 4};
  nn::LstmCell backward{model / "backward", 5, 4};
  nn::Linear alone{model / "alone", 5, 4};
  nn::Linear unused{model / "unused", 5, 4};
  Recursion recursion{"chains",
                      {forward.kind("forward"),
                       backward.kind("backward"),
                       {"alone", 0, [this](In in) { return std::pair(tanh(alone(in[0])), alone(in[0])); }},
                       {"unused", 0, [this](In in) { return std::pair(tanh(unused(in[0])), unused(in[0])); }}}};

  /// Every element of x is in both chains, but for `left_out` of the first.
  static Structure structure(std::int32_t length, bool with_leaf, std::int32_t left_out) {
    Structure both;
    std::int32_t before = Structure::kMissing;
    for (std::int32_t t = 0; t < length; ++t)
      if (t != left_out) before = both.add(KindId{0}, t, {before});
    before = Structure::kMissing;
    for (std::int32_t t = length - 1; t >= 0; --t) before = both.add(KindId{1}, t, {before});
    if (with_leaf) both.add(KindId{2}, 0);
    return both;
  }
};

TEST(Recursion, RunsChainsThatShareX) {
  for (const bool with_leaf : {false, true})
    for (const std::int32_t left_out : {-1, 1}) {
      const Chains net;
      testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
        std::vector<Expr> losses;
        for (const std::int32_t length : {3, 1, 6, 4}) {
          graph.begin_instance();
          std::vector<float> numbers;
          for (std::int32_t i = 0; i < 5 * length; ++i) numbers.push_back(static_cast<float>(i % 7) / 4 - 1);
          const Expr x = graph.rows({5}, numbers);
          inputs.push_back(x);
          const Expr states = net.recursion(x, Chains::structure(length, with_leaf, left_out))[0];
          losses.push_back(sum({sum(states * states, 0)}));
        }
        return sum(losses);
      });
    }
}

/// The first element of a sequence has no child: zeros need not be multiplied.
TEST(Recursion, MultipliesOnlyStatesThatThereAre) {
  constexpr std::int32_t kHidden = 4;
  for (const std::vector<std::int32_t>& lengths : {std::vector<std::int32_t>{1}, {1, 1, 1}, {1, 5, 1, 3}}) {
    Model model{3};
    const nn::LstmCell lstm(model / "lstm", 5, kHidden);
    const auto loss_of = [&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<Expr> losses;
      for (const std::int32_t length : lengths) {
        graph.begin_instance();
        std::vector<float> numbers;
        for (std::int32_t i = 0; i < 5 * length; ++i) numbers.push_back(static_cast<float>(i % 7) / 4 - 1);
        inputs.push_back(graph.rows({5}, numbers));
        const auto [h, c] = lstm.rows(inputs.back());
        losses.push_back(sum(h * h + c, 0));
      }
      return sum({sum(losses)});
    };
    testing::expect_cells_agree(model, loss_of);

    const ops::ProductLog log;
    Graph graph;
    std::vector<Expr> inputs;
    loss_of(graph, inputs).backward();
    std::int64_t with_child = 0;
    for (const std::int32_t length : lengths) with_child += length - 1;
    std::array<std::int64_t, 3> rows{};
    for (const ops::ProductCalls& each : log.products())
      if (each.product.k == kHidden)
        rows[static_cast<std::size_t>(each.product.kind)] += each.product.rows * each.calls;
    EXPECT_THAT(rows, ::testing::Each(with_child));
  }
}

/// The last kind runs with the first, which reads no x, and so before the one in between.
TEST(Recursion, RunsKindsThatReadXInAnotherOrderThanTheirNumbers) {
  Chains net;
  const nn::Linear step(net.model / "step", 4, 4);
  const auto next = [&](In in) { return std::pair(tanh(step(in[0])), in[1] * in[1]); };
  const Recursion recursion(
      "mixed", {{"next", 1, next, TakesX::kNo}, net.forward.kind("forward"), net.backward.kind("backward")},
      {{4}, {4}});
  testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> losses;
    for (const std::int32_t length : {3, 1, 5}) {
      graph.begin_instance();
      std::vector<float> numbers;
      for (std::int32_t i = 0; i < 5 * length; ++i) numbers.push_back(static_cast<float>(i % 7) / 4 - 1);
      const Expr x = graph.rows({5}, numbers);
      inputs.push_back(x);
      Structure both;
      std::int32_t before = Structure::kMissing;
      for (std::int32_t t = 0; t < length; ++t) before = both.add(KindId{1}, t, {before});
      before = Structure::kMissing;
      for (std::int32_t t = length - 1; t >= 0; --t)
        before = both.add(KindId{0}, Structure::kNoX, {both.add(KindId{2}, t, {before})});
      const Expr states = recursion(x, both)[0];
      losses.push_back(sum({sum(states * states, 0)}));
    }
    return sum(losses);
  });
}

TEST(Recursion, GivesWeightsOfKindsThatDoNotOccurNoGradient) {
  const Chains net;
  Graph graph;
  Gradients gradients;
  const Expr x = graph.rows({5}, std::vector<float>(15, 0.5F));
  const Expr loss = sum({sum(net.recursion(x, Chains::structure(3, false, -1))[0], 0)});
  loss.backward({.into = &gradients, .wanted = {}});
  for (const Parameter* parameter : net.model.parameters()) {
    const bool occurs =
        parameter->name().find("alone") == std::string::npos && parameter->name().find("unused") == std::string::npos;
    EXPECT_EQ(gradients.find(*parameter) != nullptr, occurs) << parameter->name();
  }
}

TEST(Recursion, RecordsItsParametersAgainAsTheyAre) {
  Chains net;
  Graph graph;
  const auto loss_of = [&] {
    graph.clear();
    const Expr x = graph.rows({5}, std::vector<float>(15, 0.5F));
    return sum({sum(net.recursion(x, Chains::structure(3, true, -1))[0], 0)});
  };
  const double before = loss_of().scalar();
  for (Parameter* parameter : net.model.parameters()) parameter->mutable_value().as<float>()[0] += 0.5F;
  const double changed = loss_of().scalar();
  EXPECT_NE(changed, before);
  Graph fresh;
  const Expr x = fresh.rows({5}, std::vector<float>(15, 0.5F));
  EXPECT_EQ(sum({sum(net.recursion(x, Chains::structure(3, true, -1))[0], 0)}).scalar(), changed);
  const Expr loss = loss_of();
  net.model.parameters()[0]->mutable_value();
  EXPECT_THAT(testing::refusal_of([&] { loss.scalar(); }), HasSubstr("was changed after this graph recorded it"));
}

TEST(Recursion, OutlivesAGraphThatIsCleared) {
  const Net net;
  Graph graph;
  std::mt19937 random(3);
  const Instance instance = random_instance(random, true);
  double first = 0;
  for (int time = 0; time < 3; ++time) {
    graph.clear();
    const Expr loss = sum({sum(net.recursion(graph.rows({5}, instance.x), instance.structure)[0], 0)});
    if (time == 0) first = loss.scalar();
    EXPECT_EQ(loss.scalar(), first);
  }
}

TEST(Recursion, RefusesWhatDoesNotFit) {
  const Net net;
  Graph graph;
  const Expr x = graph.rows({5}, std::vector<float>(10));
  const auto told = [&](const Structure& structure) {
    return testing::refusal_of([&] { net.recursion(x, structure); });
  };
  Structure s;
  EXPECT_THAT(told(s), HasSubstr("recursion \"net\": the structure has no rows"));
  s.add(KindId{4}, 0);
  EXPECT_THAT(told(s), HasSubstr("row 0 is of kind 4, and there are kinds 0 to 3"));
  s.clear();
  s.add(KindId{0}, 2);
  EXPECT_THAT(told(s), HasSubstr("row 0, of kind \"leaf\", reads row 2 of x, which has rows 0 to 1"));
  s.clear();
  s.add(KindId{0}, 0);
  s.add(KindId{2}, Structure::kNoX);
  EXPECT_THAT(told(s), HasSubstr("row 1 has 0 children, and rows of kind \"one\" have 1"));
  s.clear();
  s.add(KindId{0}, 0);
  s.add(KindId{2}, Structure::kNoX, {2});
  EXPECT_THAT(told(s), HasSubstr("row 1 has row 2 as a child, and there are rows 0 to 1"));
  s.clear();
  s.add(KindId{0}, 0);
  s.add(KindId{2}, Structure::kNoX, {2});
  s.add(KindId{2}, Structure::kNoX, {1});
  EXPECT_THAT(told(s), HasSubstr("row 1 depends on itself, or on a row that does"));
  EXPECT_THAT(testing::refusal_of([&] { net.recursion(graph.input({5}, std::vector<float>(5)), s); }),
              HasSubstr("recursion \"net\": x is a single row"));
  EXPECT_THAT(testing::refusal_of([] {
                Recursion("none", {{"element", 1, [](In in) { return in[0]; }}});
              }),
              HasSubstr("recursion \"none\": no kind of row is without children, so that the shapes of a state are"));
  Structure two;
  two.add(KindId{0}, 0);
  two.add(KindId{1}, 1, {0});
  const Recursion unlike("unlike", {{"leaf", 0, [](In in) { return in[0] + in[0]; }},
                                    {"node", 1, [](In in) { return slice(in[0] + in[1], 0, 2); }}});
  EXPECT_THAT(testing::refusal_of([&] { unlike(x, two); }),
              HasSubstr("recursion \"unlike\": the state of a row of kind \"node\" is [2], and that of others [5]"));
}

TEST(Recursion, FindsKindsByTheirNames) {
  const Net net;
  EXPECT_EQ(net.recursion.kind("leaf"), KindId{0});
  EXPECT_EQ(net.recursion.kind("two"), KindId{3});
  EXPECT_EQ(testing::refusal_of([&] { net.recursion.kind("laef"); }),
            "recursion \"net\": it has no kind \"laef\"; did you mean \"leaf\"?");
  EXPECT_EQ(testing::refusal_of([&] { net.recursion.kind("join"); }),
            "recursion \"net\": it has no kind \"join\"; there are \"leaf\", \"other leaf\", \"one\" and \"two\"");
  const auto same = [](In in) { return in[0]; };
  EXPECT_EQ(testing::refusal_of([&] {
              Recursion("twice", {{"leaf", 0, same}, {"leaf", 0, same}});
            }),
            "recursion \"twice\": two kinds are called \"leaf\"");
}

TEST(Recursion, SumsTheMessagesOfAnyNumberOfChildren) {
  // Each child sends twice its state; a row adds its x.
  const Recursion sums("sums",
                       {RecursionKind::any_children(
                           "node", [](In in) { return in[1] + in[1]; }, [](In in) { return in[0] + in[1]; })},
                       {{1}});
  Structure s;
  const KindId node = sums.kind("node");
  const std::int32_t a = s.add(node, 0);
  const std::int32_t b = s.add(node, 1);
  const std::int32_t c = s.add(node, 2, {a, b});
  s.add(node, 3, {a, c, c, Structure::kMissing, b, b, b});
  for (const bool expand : {false, true}) {
    Graph graph({.expand_cells = expand});
    const Expr states = sums(graph.rows({1}, std::vector<float>{1, 10, 100, 1000}), s)[0];
    EXPECT_EQ(states.row_count(), 4);
    const Tensor values = states.value();
    EXPECT_EQ(values.at(0), 1);
    EXPECT_EQ(values.at(1), 10);
    EXPECT_EQ(values.at(2), 100 + 2 * 11);
    EXPECT_EQ(values.at(3), 1000 + 2 * (1 + 2 * 122 + 3 * 10));
  }
}

TEST(Recursion, TakesTheFirstRowsOfANode) {
  Model model;
  const nn::Linear linear(model / "linear", 2, 3);
  testing::expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> losses;
    for (const std::int32_t count : {1, 3, 4}) {
      graph.begin_instance();
      std::vector<float> numbers;
      for (std::int32_t i = 0; i < 8; ++i) numbers.push_back(static_cast<float>((i * count) % 5) - 2);
      const Expr x = graph.rows({2}, numbers);
      inputs.push_back(x);
      const Expr y = tanh(linear(x));
      const Expr first = first_rows(y, count);
      EXPECT_EQ(first.row_count(), count);
      losses.push_back(sum(sum({first * first, y})));
      losses.push_back(sum(row(first, count - 1)));
    }
    return sum(losses);
  });
  Graph graph;
  const Expr x = graph.rows({2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(first_rows(x, 2).value(), Tensor({2, 2}, {1, 2, 3, 4}));
  EXPECT_THAT(testing::refusal_of([&] { first_rows(x, 4); }),
              HasSubstr("first_rows: a count of 4 is outside 1 to 3, the rows of x"));
  EXPECT_THAT(testing::refusal_of([&] { first_rows(row(x, 0), 1); }), HasSubstr("first_rows: x is a single row"));
}

}  // namespace
}  // namespace espalier::recursions
