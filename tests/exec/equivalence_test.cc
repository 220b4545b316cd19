/// Random graphs computed in several ways must give the same values and gradients.
///
/// ESPALIER_GRAPHS chooses how many graphs each test draws; RC_PARAMS="seed=7" draws others. What does not agree is
/// shrunk and printed with its seed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "espalier/exec/gradients.h"
#include "tests/support/random_graph.h"

namespace espalier::testing {

void showValue(const Move& move, std::ostream& out) {
  out << "{" << move.what << ", " << move.a << ", " << move.b << ", " << move.c << "}";
}

void showValue(const Recipe& recipe, std::ostream& out) {
  out << "topology " << static_cast<std::uint32_t>(recipe.topology) << ", instances ";
  rc::show(recipe.instances, out);
}

}  // namespace espalier::testing

namespace rc {

template <>
struct Arbitrary<espalier::testing::Recipe> {
  static Gen<espalier::testing::Recipe> arbitrary() {
    using espalier::testing::Move;
    using espalier::testing::Recipe;
    using espalier::testing::Topology;
    const auto number = gen::inRange<std::uint32_t>(0, 1U << 16);
    const auto move = gen::build<Move>(gen::set(&Move::what, number), gen::set(&Move::a, number),
                                       gen::set(&Move::b, number), gen::set(&Move::c, number));
    const auto instance = gen::resize(40, gen::container<std::vector<Move>>(move));
    return gen::build<Recipe>(
        gen::set(&Recipe::topology,
                 gen::map(gen::inRange<std::uint32_t>(0, 4), [](std::uint32_t n) { return Topology{n}; })),
        gen::set(&Recipe::instances,
                 gen::nonEmpty(gen::resize(4, gen::container<std::vector<std::vector<Move>>>(instance)))));
  }
};

}  // namespace rc

namespace espalier {
namespace {

using testing::RandomGraph;
using testing::RandomNet;
using testing::Recipe;

constexpr std::uint64_t kNetSeed = 5;
constexpr double kFloatTolerance = 2e-4;

/// All that can be compared, in an order that is the same for every way of computing.
struct Outcome {
  std::vector<Tensor> values;            // of every node
  std::vector<std::string> what;         // of the gradients
  std::vector<Tensor> gradients;         // of every parameter and input, zeros included
  std::vector<std::int32_t> table_rows;  // that got one, if it is sparse
};

Outcome outcome_of(RandomNet& net, Graph& graph, const RandomGraph& recorded) {
  Gradients gradients;
  recorded.loss.backward({.into = &gradients, .wanted = recorded.inputs});
  Outcome outcome;
  for (std::int32_t i = 0; i < graph.size(); ++i) outcome.values.push_back(graph.expr(NodeId{i}).value());
  for (const Parameter* parameter : net.model.parameters()) {
    const Gradient* gradient = gradients.find(*parameter);
    outcome.what.push_back("parameter " + parameter->name());
    outcome.gradients.push_back(gradient != nullptr ? gradient->to_tensor()
                                                    : Tensor(parameter->shape(), parameter->value().dtype()));
    if (parameter == net.table && gradient != nullptr && gradient->sparse) outcome.table_rows = gradient->rows;
  }
  for (const Expr& input : recorded.inputs) {
    outcome.what.push_back(graph.describe(input.node()));
    outcome.gradients.push_back(input.grad());
  }
  return outcome;
}

Outcome run(const Recipe& recipe, Execution execution, DType dtype = DType::kFloat32) {
  RandomNet net(kNetSeed, dtype);
  Graph graph({.seed = 3, .dtype = dtype, .execution = execution});
  const RandomGraph recorded = testing::record(graph, net, recipe);
  return outcome_of(net, graph, recorded);
}

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) largest = std::max(largest, std::abs(tensor.at(i)));
  return largest;
}

/// Compares row by row, relative to the row's largest magnitude. What cancels leaves rounding errors of its parts'
/// size, so that a share of `scale`, the size of numbers around it, is always allowed.
void expect_close(const Tensor& given, const Tensor& expected, double tolerance, double scale,
                  const std::string& what) {
  RC_ASSERT(given.shape() == expected.shape());
  const std::int64_t width = given.shape().rank() == 0 ? 1 : given.shape()[given.shape().rank() - 1];
  for (std::int64_t begin = 0; begin < given.elements(); begin += width) {
    double largest = 0;
    for (std::int64_t i = begin; i < begin + width; ++i) largest = std::max(largest, std::abs(expected.at(i)));
    for (std::int64_t i = begin; i < begin + width; ++i)
      if (!(std::abs(given.at(i) - expected.at(i)) <= tolerance * largest + tolerance * 0.05 * scale))
        RC_FAIL(what + ", element " + std::to_string(i) + ": " + std::to_string(given.at(i)) + " is not " +
                std::to_string(expected.at(i)));
  }
}

void expect_close(const Outcome& given, const Outcome& expected, double tolerance) {
  RC_ASSERT(given.values.size() == expected.values.size());
  for (std::size_t i = 0; i < given.values.size(); ++i)
    expect_close(given.values[i], expected.values[i], tolerance, 1, "value of node " + std::to_string(i));
  RC_ASSERT(given.what == expected.what);
  RC_ASSERT(given.table_rows == expected.table_rows);
  double scale = 1;
  for (const Tensor& gradient : expected.gradients) scale = std::max(scale, largest_of(gradient));
  for (std::size_t i = 0; i < given.gradients.size(); ++i)
    expect_close(given.gradients[i], expected.gradients[i], tolerance, scale, "gradient of " + given.what[i]);
}

/// rapidcheck takes its settings from the environment, once.
class Equivalence : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* graphs = std::getenv("ESPALIER_GRAPHS");
    const std::string params = std::string("seed=1 max_success=") + (graphs != nullptr ? graphs : "400");
    setenv("RC_PARAMS", params.c_str(), 0);
  }
};

TEST_F(Equivalence, KernelsAgreeWithThePlainCode) {
  EXPECT_TRUE(rc::check([](const Recipe& recipe) {
    expect_close(run(recipe, Execution::kKernels), run(recipe, Execution::kPlain), kFloatTolerance);
  }));
}

TEST_F(Equivalence, KernelsAgreeWithFloat64) {
  EXPECT_TRUE(rc::check([](const Recipe& recipe) {
    expect_close(run(recipe, Execution::kKernels), run(recipe, Execution::kKernels, DType::kFloat64), kFloatTolerance);
  }));
}

TEST_F(Equivalence, GradientsOfTheSumAreTheSumOfThoseOfSingleInstances) {
  EXPECT_TRUE(rc::check([](const Recipe& recipe) {
    RandomNet net(kNetSeed, DType::kFloat64);
    const GraphOptions options{.seed = 3, .dtype = DType::kFloat64};
    Gradients together;
    Gradients apart;
    double loss = 0;
    for (std::size_t i = 0; i < recipe.instances.size(); ++i) {
      Graph graph(options);
      const RandomGraph single = testing::record(graph, net, recipe, i, i + 1);
      single.loss.backward({.into = &apart, .wanted = {}});
      loss += single.loss.scalar();
    }
    Graph graph(options);
    const RandomGraph all = testing::record(graph, net, recipe);
    all.loss.backward({.into = &together, .wanted = {}});
    RC_ASSERT(std::abs(all.loss.scalar() - loss) <= 1e-10 * (1 + std::abs(loss)));
    RC_ASSERT(together.all().size() == apart.all().size());
    for (const Gradient* gradient : together.all()) {
      RC_ASSERT(gradient->rows == apart.find(*gradient->parameter)->rows);
      expect_close(gradient->values(), apart.find(*gradient->parameter)->values(), 1e-10, 1 + together.norm(),
                   gradient->parameter->name());
    }
  }));
}

TEST_F(Equivalence, BackwardTwiceGivesTwiceTheGradientAndTheSameBits) {
  EXPECT_TRUE(rc::check([](const Recipe& recipe) {
    RandomNet net(kNetSeed);
    Graph graph({.seed = 3});
    const RandomGraph recorded = testing::record(graph, net, recipe);
    const Outcome first = outcome_of(net, graph, recorded);
    const Outcome second = outcome_of(net, graph, recorded);
    RC_ASSERT(first.gradients == second.gradients);
    RC_ASSERT(first.values == second.values);
    Gradients twice;
    recorded.loss.backward({.into = &twice, .wanted = {}});
    recorded.loss.backward({.into = &twice, .wanted = {}});
    for (std::size_t i = 0; i < net.model.parameters().size(); ++i) {
      const Gradient* gradient = twice.find(*net.model.parameters()[i]);
      if (gradient == nullptr) continue;
      const Tensor sum = gradient->to_tensor();
      for (std::int64_t k = 0; k < sum.elements(); ++k)
        RC_ASSERT(std::abs(sum.at(k) - 2 * first.gradients[i].at(k)) <= 1e-5 * (1 + largest_of(sum)));
    }
  }));
}

/// The generator must reach what it promises.
TEST(RandomGraphs, UseMostOps) {
  RandomNet net(kNetSeed);
  std::vector<std::string> seen;
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    Recipe recipe{testing::Topology{static_cast<std::uint32_t>(round % 4)}, {{}}};
    for (int i = 0; i < 40; ++i)
      recipe.instances[0].push_back({random.next(), random.next(), random.next(), random.next()});
    Graph graph({.seed = 3});
    testing::record(graph, net, recipe);
    for (std::int32_t i = 0; i < graph.size(); ++i) {
      const std::string name(graph.signature(NodeId{i}).info->name);
      if (std::find(seen.begin(), seen.end(), name) == seen.end()) seen.push_back(name);
    }
  }
  std::string missing;
  for (std::int32_t i = 0; i < op_count(); ++i) {
    const std::string name(op_info(OpId{i}).name);
    if (std::find(seen.begin(), seen.end(), name) == seen.end()) missing += name + " ";
  }
  EXPECT_GE(seen.size(), 45U) << "not used: " << missing;
}

}  // namespace
}  // namespace espalier
