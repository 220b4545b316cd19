/// Runs random graphs in every way there is, and compares what comes out.
///
/// ESPALIER_GRAPHS chooses how many graphs the tests of equivalence draw together (the other tests draw a share of
/// that); RC_PARAMS="seed=7" draws others. What does not agree is shrunk and printed with its seed.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/base/strategy.h"
#include "espalier/exec/gradients.h"
#include "tests/exec/small_model.h"
#include "tests/support/random_graph.h"

namespace espalier::testing {

inline void showValue(const Move& move, std::ostream& out) {
  out << "{" << move.what << ", " << move.a << ", " << move.b << ", " << move.c << "}";
}

inline void showValue(const Recipe& recipe, std::ostream& out) {
  out << "topology " << static_cast<std::uint32_t>(recipe.topology) << ", choices " << recipe.choices << " (width "
      << recipe.width() << (recipe.joint() ? ", joint" : "") << "), instances ";
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
                 gen::nonEmpty(gen::resize(6, gen::container<std::vector<std::vector<Move>>>(instance)))),
        gen::set(&Recipe::choices, number));
  }
};

}  // namespace rc

namespace espalier::testing {

constexpr std::uint64_t kNetSeed = 5;
constexpr double kFloatTolerance = 2e-4;
constexpr double kDoubleTolerance = 1e-10;
constexpr std::array kMemoise{Memoise::kOff, Memoise::kLookups, Memoise::kAll};

/// Under a sanitizer everything takes many times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlowness = 25;
#else
constexpr int kSlowness = 1;
#endif

/// Whether a property holds for `share` of 10,000 random graphs.
template <class Property>
bool holds(int share, const Property& property) {
  setenv("RC_PARAMS", "seed=1", 0);
  const char* graphs = std::getenv("ESPALIER_GRAPHS");
  const double all = graphs != nullptr ? std::atof(graphs) : 10'000.0 / kSlowness;
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = std::max(1, static_cast<int>(all * share / 10'000));
  const rc::detail::TestResult result = rc::detail::checkTestable(property, rc::detail::TestMetadata(), params);
  rc::detail::printResultMessage(result, std::cerr);
  std::cerr << " (seed " << params.seed << ")\n";
  return result.template is<rc::detail::SuccessResult>();
}

/// The i-th of many choices that one number stands for.
inline std::uint32_t choice(std::uint32_t draw, std::uint32_t i, std::uint32_t below) {
  return philox({i, 0, 0, 0}, {draw, 0})[0] % below;
}

inline std::string text_of(const GraphOptions& options) {
  constexpr std::array<const char*, 3> kNames{"nothing", "lookups", "all"};
  return std::string(name_of(options.strategy)) + ", memoising " + kNames[static_cast<std::size_t>(options.memoise)] +
         ", " + (options.dtype == DType::kFloat32 ? "float32" : "float64");
}

/// Each strategy, with drawn memoisation.
inline std::vector<GraphOptions> ways(std::uint32_t draw, DType dtype) {
  std::vector<GraphOptions> result;
  for (const Strategy strategy : kStrategies)
    result.push_back({.seed = 3,
                      .dtype = dtype,
                      .strategy = strategy,
                      .memoise = kMemoise[choice(draw, static_cast<std::uint32_t>(strategy), 3)]});
  return result;
}

/// All that can be compared, in an order that is the same for every way of computing.
struct Outcome {
  std::vector<Tensor> values;
  std::vector<std::string> what;         // of the gradients
  std::vector<Tensor> gradients;         // of parameters and wanted nodes, zeros included
  std::vector<std::int32_t> table_rows;  // that got one, if it is sparse
};

inline void add_values(Outcome& outcome, const Graph& graph) {
  for (std::int32_t i = 0; i < graph.size(); ++i) outcome.values.push_back(graph.expr(NodeId{i}).value());
}

inline void add_gradients(Outcome& outcome, const RandomNet& net, const Gradients& gradients) {
  for (const Parameter* parameter : net.model.parameters()) {
    const Gradient* gradient = gradients.find(*parameter);
    outcome.what.push_back("parameter " + parameter->name());
    outcome.gradients.push_back(gradient != nullptr ? gradient->to_tensor()
                                                    : Tensor(parameter->shape(), parameter->value().dtype()));
    if (parameter == net.table && gradient != nullptr && gradient->sparse) outcome.table_rows = gradient->rows;
  }
}

inline void add_gradients(Outcome& outcome, const std::vector<Expr>& wanted) {
  for (const Expr& x : wanted) {
    outcome.what.push_back(x.graph().describe(x.node()));
    outcome.gradients.push_back(x.grad());
  }
}

/// All inputs, and some other nodes.
inline std::vector<Expr> wanted_nodes(const Graph& graph, const RandomGraph& recorded, std::uint32_t draw) {
  std::vector<Expr> wanted = recorded.inputs;
  for (std::uint32_t i = 0; i < choice(draw, 100, 4); ++i)
    wanted.push_back(
        graph.expr(NodeId{static_cast<std::int32_t>(choice(draw, 101 + i, static_cast<std::uint32_t>(graph.size())))}));
  return wanted;
}

inline double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) largest = std::max(largest, std::abs(tensor.at(i)));
  return largest;
}

/// Compares row by row, relative to the row's largest magnitude. What cancels leaves rounding errors of its parts'
/// size, so that a share of `scale`, the size of numbers around it, is always allowed. `what` is called for the text.
template <class What>
void expect_close(const Tensor& given, const Tensor& expected, double tolerance, double scale, const What& what) {
  if (given.shape() != expected.shape()) RC_FAIL(what() + ": another shape");
  const std::int64_t width = given.shape().rank() == 0 ? 1 : given.shape()[given.shape().rank() - 1];
  for (std::int64_t begin = 0; begin < given.elements(); begin += width) {
    double largest = 0;
    for (std::int64_t i = begin; i < begin + width; ++i) largest = std::max(largest, std::abs(expected.at(i)));
    for (std::int64_t i = begin; i < begin + width; ++i)
      if (!(std::abs(given.at(i) - expected.at(i)) <= tolerance * largest + tolerance * 0.05 * scale))
        RC_FAIL(what() + ", element " + std::to_string(i) + ": " + std::to_string(given.at(i)) + " is not " +
                std::to_string(expected.at(i)));
  }
}

inline void expect_close(const Outcome& given, const Outcome& expected, double tolerance, const std::string& way) {
  RC_ASSERT(given.values.size() == expected.values.size());
  for (std::size_t i = 0; i < given.values.size(); ++i)
    expect_close(given.values[i], expected.values[i], tolerance, 1,
                 [&] { return way + ": value " + std::to_string(i); });
  RC_ASSERT(given.what == expected.what);
  if (given.table_rows != expected.table_rows) RC_FAIL(way + ": other rows of the table");
  double scale = 1;
  for (const Tensor& gradient : expected.gradients) scale = std::max(scale, largest_of(gradient));
  for (std::size_t i = 0; i < given.gradients.size(); ++i)
    expect_close(given.gradients[i], expected.gradients[i], tolerance, scale,
                 [&] { return way + ": gradient of " + given.what[i]; });
}

/// What is true of the statistics of every run.
inline void expect_sound(const Statistics& statistics, const std::string& way) {
  if (statistics.steps != statistics.bound + statistics.forced || statistics.forced < 0)
    RC_FAIL(way + ": " + std::to_string(statistics.steps) + " steps, a bound of " + std::to_string(statistics.bound) +
            ", " + std::to_string(statistics.forced) + " forced");
  if (statistics.nodes < statistics.steps) RC_FAIL(way + ": a step without rows");
}

}  // namespace espalier::testing
