/// Fractal nets: structure, values and gradients, and which paths are dropped how often.
#include "espalier/nn/fractal_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "espalier/nn/fc.h"
#include "espalier/ops/all.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"
#include "tests/support/ways_agree.h"

namespace espalier::nn {
namespace {

using espalier::testing::asymmetric_sum;
using espalier::testing::check_gradients;
using espalier::testing::expect_ways_agree;
using espalier::testing::parameters_of;
using espalier::testing::randomise;
using espalier::testing::refusal_of;
using espalier::testing::vector_input;

FractalNet::Builder tanh_layers(std::int32_t size) {
  return [size](const Scope& scope) { return FC(scope, size, size, {.activation = Activation::kTanh}); };
}

/// Base layers that add one, so that a net's value tells which paths it is the mean of.
FractalNet::Layer counting(const Scope&) {
  return [](Operand x) { return shift(x, 1); };
}

double counted(const FractalNet& net, Graph& graph) { return net(graph.constant({1}, 0)).scalar(); }

TEST(FractalNet, HasABaseLayerForEveryFractalWithinIt) {
  Model model;
  const FractalNet net(model / "net", [](const Scope& scope) { return FC(scope, 1, 1, {.bias = false}); },
                       {.blocks = 2, .depth = 2});
  EXPECT_EQ(parameters_of(model),
            "net.0.base.W [1, 1], net.0.first.base.W [1, 1], net.0.second.base.W [1, 1], "
            "net.1.base.W [1, 1], net.1.first.base.W [1, 1], net.1.second.base.W [1, 1]");
}

TEST(FractalNet, JoinsTheMeanOfOneLayerAndTwoFractals) {
  Model model;
  const FractalNet net(model / "net", tanh_layers(2), {.depth = 2});
  randomise(model);
  const auto layer = [&](const std::string& name) {
    return [&model, name](const Expr& x) {
      return tanh(affine(x, model.parameter(name + ".W"), model.parameter(name + ".b")));
    };
  };
  Graph g;
  const Expr x = vector_input(g, {0.4, -0.8});
  const Tensor given = net(x).value();
  const Tensor expected =
      (0.5 * (layer("net.0.base")(x) + layer("net.0.second.base")(layer("net.0.first.base")(x)))).value();
  for (std::int64_t i = 0; i < 2; ++i) EXPECT_NEAR(given.at(i), expected.at(i), 1e-12);
}

TEST(FractalNet, GradientsReachAllLayers) {
  Model model;
  const FractalNet net(model / "net", tanh_layers(2), {.blocks = 2, .depth = 3});
  randomise(model);
  check_gradients(model, [&](Graph& graph) { return asymmetric_sum(net(vector_input(graph, {0.4, -0.8}))); });
}

TEST(FractalNet, MixesAsItIsTold) {
  Model model;
  const FractalNet net(model / "net", counting, {.depth = 2, .mix = [](Operand a, Operand b) { return a * 10.0 + b; }});
  Graph g;
  EXPECT_EQ(counted(net, g), 12);  // one layer, times ten, and two
}

TEST(FractalNet, DropsNothingUnlessItTrainsAndIsTold) {
  Model model;
  const FractalNet steady(model / "a", counting, {.depth = 3});
  const FractalNet dropping(model / "b", counting, {.depth = 3, .drop_path = true});
  // f_2 adds (1 + 2) / 2, f_3 therefore (1 + 3) / 2.
  for (int i = 0; i < 20; ++i) {
    Graph training({.seed = static_cast<std::uint64_t>(i)});
    EXPECT_EQ(counted(steady, training), 2);
    Graph inference({.seed = static_cast<std::uint64_t>(i), .training = false});
    EXPECT_EQ(counted(dropping, inference), 2);
  }
}

constexpr int kDraws = 20000;

/// How often each value comes, as a share, over as many instances.
std::map<double, double> shares(const FractalNet& net) {
  std::map<double, double> shares;
  Graph g({.seed = 11});
  std::vector<Expr> results;
  for (int i = 0; i < kDraws; ++i) {
    g.begin_instance();
    results.push_back(net(g.constant({1}, 0)));
  }
  const Tensor all = concat(results).value();
  for (std::int64_t i = 0; i < all.elements(); ++i) shares[all.at(i)] += 1.0 / kDraws;
  return shares;
}

/// Five deviations of a share of draws.
double slack(double share) { return 5 * std::sqrt(share * (1 - share) / kDraws); }

TEST(FractalNet, GloballyOneColumnIsLeftEachAsOften) {
  Model model;
  const FractalNet net(model / "net", counting, {.blocks = 2, .depth = 3, .drop_path = true, .local = 0});
  // The columns have 1, 2 and 4 layers, and both blocks keep the same.
  const std::map<double, double> found = shares(net);
  ASSERT_EQ(found.size(), 3U);
  for (const double layers : {2, 4, 8}) EXPECT_NEAR(found.at(layers), 1.0 / 3, slack(1.0 / 3)) << layers;
}

TEST(FractalNet, LocallyEveryJoinLosesASideWithItsProbability) {
  Model model;
  const double p = 0.3;
  const double q = 0.4;
  const FractalNet net(model / "net", counting,
                       {.depth = 2, .drop_path = true, .local = 1, .drop_short = p, .drop_long = q});
  const std::map<double, double> found = shares(net);
  ASSERT_EQ(found.size(), 3U);
  const double only_short = q * (1 - p) + p * q / 2;
  const double only_long = p * (1 - q) + p * q / 2;
  EXPECT_NEAR(found.at(1), only_short, slack(only_short));
  EXPECT_NEAR(found.at(2), only_long, slack(only_long));
  EXPECT_NEAR(found.at(1.5), (1 - p) * (1 - q), slack((1 - p) * (1 - q)));
}

TEST(FractalNet, LocalAndGlobalDropPathAreMixedAsTold) {
  Model model;
  // Locally nothing is dropped here, so only the global draws differ from 1.5.
  const FractalNet net(model / "net", counting,
                       {.depth = 2, .drop_path = true, .local = 0.7, .drop_short = 0, .drop_long = 0});
  const std::map<double, double> found = shares(net);
  EXPECT_NEAR(found.at(1.5), 0.7, slack(0.7));
  EXPECT_NEAR(found.at(1), 0.15, slack(0.15));
}

TEST(FractalNet, JoinsAreDrawnIndependently) {
  Model model;
  const FractalNet net(model / "net", counting,
                       {.blocks = 2, .depth = 2, .drop_path = true, .local = 1, .drop_short = 0.5, .drop_long = 0.5});
  // Each block adds 1 or 2 with probability 3/8, 1.5 with 1/4. Both add 1 in 9/64 of the cases.
  const std::map<double, double> found = shares(net);
  EXPECT_NEAR(found.at(2), 9.0 / 64, slack(9.0 / 64));
  EXPECT_NEAR(found.at(4), 9.0 / 64, slack(9.0 / 64));
}

TEST(FractalNet, PathsDependOnSeedStepInstanceAndUseOnly) {
  Model model;
  const FractalNet net(model / "net", counting, {.blocks = 4, .depth = 4, .drop_path = true});
  const auto drawn = [&](const GraphOptions& options, std::uint64_t key, int uses_before) {
    Graph g(options);
    g.begin_instance(99);
    net(g.constant({1}, 0));
    g.begin_instance(key);
    for (int i = 0; i < uses_before; ++i) net(g.constant({1}, 0));
    return counted(net, g);
  };
  const auto differs = [&](const auto& a, const auto& b) {
    int different = 0;
    for (std::uint64_t i = 0; i < 50; ++i) different += a(i) != b(i) ? 1 : 0;
    return different;
  };
  const auto plain = [&](std::uint64_t i) { return drawn({.seed = 1, .step = 2}, i, 0); };
  EXPECT_EQ(differs(plain, plain), 0);
  EXPECT_EQ(
      differs(plain, [&](std::uint64_t i) { return drawn({.seed = 1, .step = 2, .strategy = Strategy::kNone}, i, 0); }),
      0);
  EXPECT_GT(differs(plain, [&](std::uint64_t i) { return drawn({.seed = 7, .step = 2}, i, 0); }), 25);
  EXPECT_GT(differs(plain, [&](std::uint64_t i) { return drawn({.seed = 1, .step = 3}, i, 0); }), 25);
  EXPECT_GT(differs(plain, [&](std::uint64_t i) { return drawn({.seed = 1, .step = 2}, i + 1000, 0); }), 25);
  EXPECT_GT(differs(plain, [&](std::uint64_t i) { return drawn({.seed = 1, .step = 2}, i, 1); }), 25);
}

TEST(FractalNet, DroppedPathsAreNotRecorded) {
  Model model;
  const FractalNet net(model / "net", counting, {.depth = 5, .drop_path = true, .local = 0});
  Graph g;
  const double layers = counted(net, g);
  EXPECT_EQ(g.size(), 1 + static_cast<std::int32_t>(layers));  // the leaf, and one column
}

TEST(FractalNet, AgreesWithTheTwinAloneAndAmongUnlikeInstances) {
  for (const bool drop_path : {false, true}) {
    Model model;
    const FractalNet net(model / "net", tanh_layers(4), {.blocks = 2, .depth = 3, .drop_path = drop_path});
    const auto input = [](Graph& graph, std::int32_t instance) {
      Tensor x({4});
      for (std::int64_t i = 0; i < 4; ++i)
        x.set(i, std::sin(1.0 + static_cast<double>(instance) + 2 * static_cast<double>(i)));
      return graph.input(x);
    };
    expect_ways_agree(
        model, [&](Graph& graph, std::int32_t i) { return asymmetric_sum(net(input(graph, i))); },
        [&](Graph& graph, std::int32_t i) { return asymmetric_sum(sigmoid(net(tanh(net(input(graph, i)))))); });
  }
}

TEST(FractalNet, RefusesToDropPathsWithinACell) {
  Model model;
  const FractalNet net(model / "net", tanh_layers(2), {.drop_path = true});
  const auto step = cell("step", [&](Expr x) { return net(x); });
  Graph g;
  EXPECT_THAT(refusal_of([&] { step(g.constant({2}, 1)); }),
              ::testing::StartsWith("cell \"step\": a fractal net chooses its paths anew for every use, and a cell is "
                                    "traced once for all of them"));
  const FractalNet steady(model / "steady", tanh_layers(2));
  const auto fine = cell("fine", [&](Expr x) { return steady(x); });
  EXPECT_EQ(fine(g.constant({2}, 1)).value().elements(), 2);
}

TEST(FractalNet, RefusesOptionsOutside) {
  Model model;
  const auto refusal = [&](const FractalNetOptions& options) {
    return refusal_of([&] { FractalNet(model / "net", counting, options); });
  };
  EXPECT_EQ(refusal({.blocks = 0}), "fractal net \"net\": the number of blocks must be at least 1, and 0 was given");
  EXPECT_EQ(refusal({.depth = 17}), "fractal net \"net\": the depth must be from 1 to 16, and 17 was given");
  EXPECT_EQ(refusal({.local = 1.5}),
            "fractal net \"net\": the share of local drop-path must be from 0 to 1, and 1.5 was given");
  EXPECT_EQ(refusal({.drop_short = -1}),
            "fractal net \"net\": the probability to drop the short side must be from 0 to 1, and -1 was given");
  EXPECT_EQ(refusal({.drop_long = 2}),
            "fractal net \"net\": the probability to drop the long side must be from 0 to 1, and 2 was given");
}

}  // namespace
}  // namespace espalier::nn
