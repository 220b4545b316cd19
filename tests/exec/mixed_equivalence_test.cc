/// Graphs of plain ops, cells, nodes of many rows and recursions together give the values and gradients of the
/// reference twin: whatever the strategy, what is memoised, expanded, read midway, kept, finished, cleared or
/// divided by a budget, and however many threads there are. All of these are drawn together.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/optim/sgd.h"
#include "tests/exec/mixed_graph.h"
#include "tests/support/threads.h"

namespace espalier::mixed {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the tests are about these

/// What is asked of a graph; every number stands for choices that are the same in all ways of computing.
class Script {
 public:
  Script(const MixedRecipe& recipe, std::uint32_t draw) : recipe_(recipe), draw_(draw) {}

  bool training() const { return pick(1, 5) != 0; }

  Outcome run(MixedNet& net, Graph& graph) const {
    const MixedFunctions functions(net, recipe_);
    // A graph that was used and cleared knows signatures and cells.
    for (std::uint32_t round = 0; round < pick(2, 4) % 3; ++round) {
      use_and_clear(net, graph, functions, round);
    }
    Outcome outcome;
    Gradients gradients;
    const MixedGraph recorded = record_reading(net, graph, functions, outcome, gradients);
    ask(net, graph, recorded, outcome, gradients);
    return outcome;
  }

 private:
  std::uint32_t pick(std::uint32_t i, std::uint32_t below) const { return choice(draw_, i, below); }
  std::size_t index(std::uint32_t i, const std::vector<Expr>& list) const {
    return pick(i, static_cast<std::uint32_t>(list.size()));
  }

  void use_and_clear(MixedNet& net, Graph& graph, const MixedFunctions& functions, std::uint32_t round) const {
    MixedRecipe part = recipe_;
    if (pick(10 + round, 2) == 0) part.plan.instances.resize(1);
    part.plan.topology = Topology{pick(12 + round, 4)};
    Gradients unread;
    const MixedGraph recorded = MixedRecorder(graph, net, part, functions).record();
    switch (pick(14 + round, 4)) {
      case 0: recorded.loss.backward({.into = &unread, .wanted = {}}); break;
      case 1: graph.finish({recorded.loss}); break;
      case 2: static_cast<void>(recorded.results[index(16, recorded.results)].value()); break;
      default: break;  // nothing was computed
    }
    graph.clear();
  }

  /// Values are read, and sometimes gradients taken, while recording goes on.
  MixedGraph record_reading(MixedNet& net, Graph& graph, const MixedFunctions& functions, Outcome& outcome,
                            Gradients& gradients) const {
    const std::uint32_t one_in = pick(20, 2) == 0 ? 0 : 1 + pick(21, 12);
    const bool differentiates = one_in > 2 && pick(22, 3) == 0;
    if (one_in == 0) return MixedRecorder(graph, net, recipe_, functions).record();
    std::uint32_t moves = 0;
    std::vector<Expr> seen;
    const Midway midway = [&](const Expr& newest) {
      seen.push_back(newest);
      if (pick(1000 + moves++, one_in) != 0) return;
      outcome.values.push_back(newest.value());
      outcome.values.push_back(seen[index(5000 + moves, seen)].value());
      if (!differentiates || moves % 2 == 0) return;
      const Expr elements = sum_elements(tanh(newest));
      sum({elements}).backward({.into = &gradients, .wanted = {}});
    };
    return MixedRecorder(graph, net, recipe_, functions, midway).record();
  }

  void ask(MixedNet& net, Graph& graph, const MixedGraph& recorded, Outcome& outcome, Gradients& gradients) const {
    for (std::uint32_t i = 0; i < pick(30, 3); ++i) graph.keep(recorded.results[index(31 + i, recorded.results)]);
    switch (pick(40, 8)) {
      case 0: return finish(graph, recorded, outcome);
      case 1: return minimise(net, recorded, outcome);
      case 2: {
        for (std::size_t i = 0; i < std::min<std::size_t>(recorded.losses.size(), 3); ++i)
          recorded.losses[i].backward({.into = &gradients, .wanted = {}});
        break;
      }
      case 3: outcome.values.push_back(recorded.loss.value()); break;
      default: break;
    }
    const std::vector<Expr> wanted = wanted_of(recorded);
    recorded.loss.backward({.into = &gradients, .wanted = wanted});
    if (pick(41, 4) == 0) recorded.loss.backward({.into = &gradients, .wanted = wanted});
    testing::add_gradients(outcome, net, gradients);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      outcome.what.push_back("wanted " + std::to_string(i) + " of shape " + wanted[i].shape().to_string());
      outcome.gradients.push_back(wanted[i].grad());
    }
    add_values(recorded, outcome);
  }

  std::vector<Expr> wanted_of(const MixedGraph& recorded) const {
    std::vector<Expr> wanted;
    if (pick(50, 2) == 0) wanted = recorded.inputs;
    if (pick(51, 3) == 0 && !recorded.own.empty())
      for (std::uint32_t i = 0; i < 3; ++i) wanted.push_back(recorded.own[index(52 + i, recorded.own)]);
    return wanted;
  }

  static void add_values(const MixedGraph& recorded, Outcome& outcome) {
    outcome.values.push_back(recorded.loss.value());
    for (const Expr& result : recorded.results) outcome.values.push_back(result.value());
  }

  void finish(Graph& graph, const MixedGraph& recorded, Outcome& outcome) const {
    std::vector<Expr> outputs = recorded.losses;
    if (pick(60, 3) == 0) outputs = {recorded.loss};
    for (std::uint32_t i = 0; i < pick(61, 4); ++i)
      outputs.push_back(recorded.results[index(62 + i, recorded.results)]);
    graph.finish(outputs);
    for (const Expr& output : outputs) outcome.values.push_back(output.value());
    add_values(recorded, outcome);  // what was freed is computed again
  }

  /// The change of every parameter by a step of plain SGD.
  static void minimise(MixedNet& net, const MixedGraph& recorded, Outcome& outcome) {
    constexpr double kRate = 0.5;
    std::vector<Tensor> before;
    for (const Parameter* parameter : net.model.parameters()) before.push_back(parameter->value());
    optim::Sgd sgd(net.model, {.learning_rate = kRate});
    sgd.minimise(recorded.loss);
    outcome.values.push_back(recorded.loss.value());
    for (std::size_t p = 0; p < before.size(); ++p) {
      const Parameter& parameter = *net.model.parameters()[p];
      Tensor change(parameter.shape(), parameter.value().dtype());
      for (std::int64_t i = 0; i < change.elements(); ++i)
        change.set(i, (before[p].at(i) - parameter.value().at(i)) / kRate);
      outcome.what.push_back("change of " + parameter.name());
      outcome.gradients.push_back(change);
    }
  }

  const MixedRecipe& recipe_;
  std::uint32_t draw_;
};

std::string text_of(const GraphOptions& options, int threads) {
  return testing::text_of(options) + (options.expand_cells ? ", expanded, " : ", as cells, ") +
         std::to_string(threads) + " threads" +
         (options.memory_budget > 0 ? ", a budget of " + std::to_string(options.memory_budget) : "");
}

/// The greatest difference between two ways to compute the same tensors: how well their numbers are determined at all.
double spread(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) largest = std::max(largest, std::abs(a.at(i) - b.at(i)));
  return largest;
}

/// Where an outcome is not the expected one; "" if it is. `exact` is the same in float64, where that is known: numbers
/// that float32 does not determine may differ.
std::string difference(const Outcome& given, const Outcome& expected, double tolerance, const Outcome* exact) {
  const auto compare = [&](const std::vector<Tensor>& a, const std::vector<Tensor>& b, const std::vector<Tensor>* c,
                           double scale, const auto& name) -> std::string {
    if (a.size() != b.size()) return "another number of them";
    for (std::size_t t = 0; t < a.size(); ++t) {
      if (a[t].shape() != b[t].shape()) return name(t) + ": another shape";
      const double slack =
          tolerance * (largest_of(b[t]) + 0.05 * scale) + (c != nullptr ? 20 * spread(b[t], (*c)[t]) : 0);
      for (std::int64_t i = 0; i < a[t].elements(); ++i)
        if (!(std::abs(a[t].at(i) - b[t].at(i)) <= slack))
          return name(t) + ", element " + std::to_string(i) + " of " + a[t].shape().to_string() + ": " +
                 std::to_string(a[t].at(i)) + " is not " + std::to_string(b[t].at(i));
    }
    return "";
  };
  const std::string values = compare(given.values, expected.values, exact != nullptr ? &exact->values : nullptr, 1,
                                     [](std::size_t t) { return "value " + std::to_string(t); });
  if (!values.empty()) return values;
  if (given.what != expected.what) return "gradients of others";
  double scale = 1;
  for (const Tensor& gradient : expected.gradients) scale = std::max(scale, largest_of(gradient));
  return compare(given.gradients, expected.gradients, exact != nullptr ? &exact->gradients : nullptr, scale,
                 [&](std::size_t t) { return "gradient of " + given.what[t]; });
}

/// Runs a script in several ways.
class Comparison {
 public:
  Comparison(const MixedRecipe& recipe, std::uint32_t draw) : recipe_(recipe), draw_(draw), script_(recipe, draw) {}

  /// How often a budget divided a minibatch.
  int check() {
    const DType dtype = choice(draw_, 70, 8) == 0 ? DType::kFloat64 : DType::kFloat32;
    const Outcome expected = run({.dtype = dtype, .execution = Execution::kPlain}, 1);
    int divided = 0;
    for (std::uint32_t way = 0; way < 3; ++way) {
      auto [options, threads] = way_of(way, dtype);
      Statistics statistics;
      compare(run(options, threads, &statistics), expected, options, threads);
      if (choice(draw_, 91 + way, 3) != 0) continue;
      constexpr std::array kPercent{97, 90, 75, 50, 30};
      options.memory_budget = 1 + statistics.peak_bytes * kPercent[choice(draw_, 95 + way, kPercent.size())] / 100;
      try {
        const Outcome within = run(options, threads, &statistics);
        compare(within, expected, options, threads);
        if (statistics.parts > 1) ++divided;
      } catch (const ResourceError& refusal) {
        RC_ASSERT(std::string(refusal.what()).find(std::to_string(options.memory_budget)) != std::string::npos);
      }
    }
    return divided;
  }

  struct Way {
    GraphOptions options;
    int threads;
  };
  /// One of several ways to compute a recipe; the first is how most are computed.
  Way way_of(std::uint32_t way, DType dtype) const {
    GraphOptions options{
        .dtype = dtype,
        .strategy = way == 0 ? Strategy::kFrontier : kStrategies[choice(draw_, 71 + way, kStrategies.size())],
        .memoise = testing::kMemoise[choice(draw_, 75 + way, 3)],
        .expand_cells = choice(draw_, 79 + way, 4) == 0,
    };
    return {options, 1 + static_cast<int>(choice(draw_, 87 + way, 3))};
  }

  Outcome run(GraphOptions options, int thread_count, Statistics* statistics = nullptr) const {
    const testing::Threads threads(thread_count);
    options.seed = 3;
    options.step = 5;
    options.training = script_.training();
    MixedNet net(kNetSeed, options.dtype, recipe_.width());
    Graph graph(options);
    Outcome outcome = script_.run(net, graph);
    outcome.table_rows.clear();  // a cell gives every input a gradient, be it zero
    if (options.execution == Execution::kPlain) return outcome;
    expect_sound(graph.statistics(), text_of(options, thread_count));
    if (statistics != nullptr) *statistics = graph.statistics();
    return outcome;
  }

 private:
  void compare(const Outcome& given, const Outcome& expected, const GraphOptions& options, int threads) {
    const bool is_double = options.dtype == DType::kFloat64;
    const double tolerance = is_double ? kDoubleTolerance : kFloatTolerance;
    std::string found = difference(given, expected, tolerance, nullptr);
    if (found.empty()) return;
    if (!is_double) {
      if (!exact_) exact_ = run({.dtype = DType::kFloat64, .execution = Execution::kPlain}, 1);
      found = difference(given, expected, tolerance, &*exact_);
      if (found.empty()) return;
    }
    RC_FAIL(text_of(options, threads) + ": " + found);
  }

  const MixedRecipe& recipe_;
  std::uint32_t draw_;
  Script script_;
  std::optional<Outcome> exact_;
};

TEST(MixedGraphs, AgreeWithTheTwinHoweverTheyAreRun) {
  int divided = 0;
  EXPECT_TRUE(
      holds(800, [&](const MixedRecipe& recipe, std::uint32_t draw) { divided += Comparison(recipe, draw).check(); }));
  EXPECT_GT(divided, 0);
}

TEST(MixedGraphs, GiveTheSameBitsWhenTheyRunTwice) {
  EXPECT_TRUE(holds(200, [](const MixedRecipe& recipe, std::uint32_t draw) {
    const Comparison comparison(recipe, draw);
    const auto [options, threads] = comparison.way_of(choice(draw, 99, 3), DType::kFloat32);
    const Outcome first = comparison.run(options, threads);
    const Outcome second = comparison.run(options, threads);
    RC_ASSERT((first.values == second.values));
    RC_ASSERT((first.gradients == second.gradients));
  }));
}

/// The generator must reach what it promises.
TEST(MixedGraphs, HaveCellsAndManyRowsAndRecursions) {
  int graphs = 0;
  int cells = 0;
  int further = 0;
  int outer = 0;
  int recursions = 0;
  int many = 0;
  int joined = 0;
  int drops = 0;
  MixedCounts counts;
  holds(200, [&](const MixedRecipe& recipe) {
    const MixedNet net(kNetSeed, DType::kFloat32, recipe.width());
    const MixedFunctions functions(net, recipe);
    Graph graph;
    MixedRecorder recorder(graph, net, recipe, functions);
    recorder.record();
    counts.missing_children += recorder.counts().missing_children > 0 ? 1 : 0;
    counts.equal_rows += recorder.counts().equal_rows > 0 ? 1 : 0;
    const auto has = [&](const auto& is) {
      for (std::int32_t i = 0; i < graph.size(); ++i)
        if (is(NodeId{i}, *graph.signature(NodeId{i}).info)) return 1;
      return 0;
    };
    ++graphs;
    cells += has([](NodeId, const OpInfo& info) { return info.kind == Kind::kCell && !info.takes_whole; });
    further += has([](NodeId, const OpInfo& info) { return info.kind == Kind::kResult; });
    outer += has([](NodeId, const OpInfo& info) { return info.name.ends_with(".outer"); });
    recursions += has([](NodeId, const OpInfo& info) { return info.kind == Kind::kCell && info.takes_whole; });
    many += has([&](NodeId node, const OpInfo&) { return graph.is_many(node); });
    joined += has([](NodeId, const OpInfo& info) { return info.name == "join_rows"; });
    drops += has([](NodeId, const OpInfo& info) { return info.random; });
  });
  EXPECT_GE(cells, graphs / 2);
  EXPECT_GE(further, graphs / 2);
  EXPECT_GE(outer, graphs / 20);
  EXPECT_GE(recursions, graphs / 4);
  EXPECT_GE(many, graphs / 2);
  EXPECT_GE(joined, graphs / 8);
  EXPECT_GE(drops, graphs / 20);
  EXPECT_GE(counts.missing_children, graphs / 8);
  EXPECT_GE(counts.equal_rows, graphs / 4);
}

}  // namespace
}  // namespace espalier::mixed
