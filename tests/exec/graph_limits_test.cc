/// What a graph cannot hold is refused with the numbers, and leaves the graph as it was. Limits that take too much
/// memory to reach are lowered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/limits.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/plan/plan.h"
#include "tests/support/refusal.h"

namespace espalier::graph_limits {
namespace {

using ::testing::HasSubstr;
using testing::refusal_of;

constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

/// Lowers the limits of this process, and restores them.
class GraphLimitsTest : public ::testing::Test {
 protected:
  ~GraphLimitsTest() override { GraphLimits::current() = before_; }

  GraphLimits& limits_ = GraphLimits::current();

 private:
  GraphLimits before_ = limits_;
};

template <class Action>
std::string resource_refusal_of(Action&& action) {
  return refusal_of<ResourceError>(std::forward<Action>(action));
}

/// Records until it is refused; the text of that.
template <class Record>
std::string record_until_refused(const Record& record) {
  for (int i = 0; i < 1'000'000; ++i)
    if (const std::string text = resource_refusal_of(record); text != "nothing was refused") return text;
  return "nothing was refused";
}

TEST_F(GraphLimitsTest, AreThoseOfThirtyTwoBits) {
  EXPECT_LT(limits_.nodes, kMostInt);  // names of shared nodes must not meet those of parameters
  EXPECT_LE(limits_.inputs, kMostInt);
  EXPECT_LE(limits_.rows, kMostInt);
  EXPECT_LE(limits_.field_bytes, std::numeric_limits<std::uint32_t>::max());
  EXPECT_LE(limits_.key_words, std::numeric_limits<std::uint32_t>::max());
}

TEST_F(GraphLimitsTest, NodesBeyondTheLastAreRefused) {
  for (const std::int32_t most : {3, 256, 1000, 1024}) {
    limits_.nodes = most;
    Model model;
    Parameter& w = model.add("w", {2}, init::constant(1));
    Graph graph;
    Expr x = graph.constant({2}, 0.5);
    const std::string text = record_until_refused([&] { x = mul(x, w); });
    EXPECT_EQ(text, "graph: " + std::to_string(most) + " nodes are recorded, the most there can be");
    EXPECT_EQ(graph.size(), most);
    EXPECT_THROW(graph.constant(1), ResourceError);
    EXPECT_THROW(tanh(x), ResourceError);
    EXPECT_THROW(sum({x, x}), ResourceError);
    EXPECT_EQ(graph.size(), most);
    // What was recorded still runs, and the graph can be used again.
    EXPECT_EQ(x.value().at(0), 0.5);
    graph.clear();
    EXPECT_EQ(mul(graph.constant({2}, 3), w).value().at(1), 3);
  }
}

TEST_F(GraphLimitsTest, CellsAndTheirResultsAreNodes) {
  limits_.nodes = 301;
  Graph graph;
  const auto both = cell("both", [](Expr x) { return std::pair(tanh(x), x * x); });
  Expr x = graph.input({2}, std::vector<float>{1, 2});
  const std::string text = record_until_refused([&] {
    const auto [a, b] = both(x);
    x = a + b;
  });
  EXPECT_EQ(text, "graph: 301 nodes are recorded, the most there can be");
  EXPECT_LE(graph.size(), 301);
  EXPECT_EQ(x.value().shape(), Shape({2}));
}

TEST_F(GraphLimitsTest, InputsOfAllNodesAreCounted) {
  limits_.inputs = 1000;
  Graph graph;
  const Expr x = graph.input({2}, std::vector<float>{1, 2});
  // 999 is above what doubling the first capacity gives: capacities must not pass the limit.
  const std::vector<Expr> many(333, x);
  Expr last;
  for (int i = 0; i < 3; ++i) last = sum(many);
  EXPECT_EQ(resource_refusal_of([&] {
              sum({x, x});
            }),
            "graph: its nodes would have 1001 inputs, and 1000 are the most there can be");
  EXPECT_EQ(tanh(last).value().shape(), Shape({2}));
  EXPECT_EQ(resource_refusal_of([&] { tanh(x); }),
            "graph: its nodes would have 1001 inputs, and 1000 are the most there can be");
  EXPECT_EQ(last.value().at(1), 666);
}

TEST_F(GraphLimitsTest, FieldsOfAllNodesAreCounted) {
  limits_.field_bytes = 3000;
  Model model;
  Parameter& table = model.add("table", {5, 2}, init::constant(2));
  Graph graph;
  Expr last;
  const std::string text = record_until_refused([&] { last = lookup(graph, table, 3); });
  EXPECT_THAT(text, HasSubstr("graph: its nodes would have 3004 bytes of fields, and 3000 are the most there can be"));
  const std::int32_t size = graph.size();
  const std::vector<std::int32_t> ids(1000, 1);
  EXPECT_THAT(resource_refusal_of([&] { lookup_rows(graph, table, ids); }), HasSubstr("bytes of fields"));
  EXPECT_EQ(graph.size(), size);
  EXPECT_EQ(last.value().at(0), 2);
}

TEST_F(GraphLimitsTest, KeysOfAllSignaturesAreCounted) {
  limits_.key_words = 500;
  Graph graph;
  const Expr x = graph.input({2}, std::vector<float>{1, 2});
  double factor = 0;
  Expr last;
  const std::string text = record_until_refused([&] { last = leaky_relu(x, ++factor); });
  EXPECT_THAT(text, HasSubstr("words, and 500 are the most there can be; it has"));
  const std::int32_t size = graph.size();
  EXPECT_THROW(leaky_relu(x, -1), ResourceError);
  EXPECT_EQ(graph.size(), size);
  EXPECT_EQ(leaky_relu(x, 1).value().at(1), 2);  // known already
  EXPECT_EQ(last.value().at(0), 1);
}

TEST_F(GraphLimitsTest, ParametersAreCounted) {
  limits_.parameters = 20;
  Model model;
  for (int i = 0; i < 22; ++i) model.add("w" + std::to_string(i), {2}, init::constant(i));
  Graph graph;
  for (std::size_t i = 0; i < 20; ++i) graph.parameter(*model.parameters()[i]);
  const Expr x = graph.input({2}, std::vector<float>{1, 2});
  const std::int32_t size = graph.size();
  const Parameter& one_more = *model.parameters()[20];
  for (int i = 0; i < 2; ++i)  // the second time too
    EXPECT_EQ(resource_refusal_of([&] { mul(x, one_more); }),
              "graph: 20 parameters are recorded, the most there can be");
  EXPECT_THROW(graph.parameter(one_more), ResourceError);
  EXPECT_THROW(graph.parameter(one_more), ResourceError);
  EXPECT_LE(graph.size(), size + 2);
  EXPECT_EQ(mul(x, *model.parameters()[19]).value().at(1), 38);
}

TEST_F(GraphLimitsTest, InstancesAreCounted) {
  limits_.instances = 3;
  Graph graph;
  for (int i = 0; i < 3; ++i) graph.begin_instance();
  EXPECT_EQ(resource_refusal_of([&] { graph.begin_instance(); }), "graph: it has 3 instances, the most there can be");
  EXPECT_EQ(graph.instances(), 3);
}

TEST_F(GraphLimitsTest, RowsOfANodeAreCounted) {
  Graph graph;
  // The numbers are not looked at.
  const float number = 1;
  const std::span<const float> numbers(&number, std::size_t{1} << 32U);
  EXPECT_THAT(resource_refusal_of([&] { graph.rows({1}, numbers); }),
              HasSubstr("rows: 4294967296 rows are given, and 2147483647 are the most a node can have\n  at "));
  const float* const row_of = &number;
  const std::span<const float* const> rows_of(&row_of, std::size_t{1} << 31U);
  EXPECT_THAT(resource_refusal_of([&] { graph.rows({1}, rows_of); }),
              HasSubstr("rows: 2147483648 rows are given, and 2147483647 are the most a node can have\n  at "));
  EXPECT_EQ(graph.size(), 0);

  const Expr x = graph.rows({1}, std::vector<float>(1 << 20, 1));
  const std::vector<Expr> many(1 << 11, x);
  EXPECT_EQ(resource_refusal_of([&] { rows(many); }),
            "gather_rows: its operands have 2147483648 rows, and 2147483647 are the most a node can have");
  EXPECT_EQ(graph.size(), 1);
}

/// Each node has few enough; together they are not to be counted in 32 bits.
TEST_F(GraphLimitsTest, RowsOfARunAreCounted) {
  Graph graph({.memory_budget = 1 << 25});  // refuses before it would take 34 GB
  const Expr x = graph.rows({1}, std::vector<float>(1 << 20, 1));
  std::vector<Expr> ends;
  for (int i = 0; i < 4; ++i) ends.push_back(tanh(rows(std::vector<Expr>(1 << 10, x))));
  EXPECT_THAT(resource_refusal_of([&] { sum(ends).value(); }),
              HasSubstr("graph: a run would compute 8589934593 rows, and 2147483647 are the most there can be"));
  EXPECT_EQ(sum({x}).value().item(), 1 << 20);
}

TEST_F(GraphLimitsTest, RowsOfAStructureTakeFields) {
  limits_.field_bytes = 100'000;
  using In = std::span<const Expr>;
  const Recursion sums("sums", {{"sum", 1, [](In in) { return in[0] + in[1]; }}}, {{1}});
  Graph graph;
  const Expr x = graph.rows({1}, std::vector<float>(10'000, 1));
  EXPECT_EQ(resource_refusal_of([&] { sums(x, Structure::sequence(10'000)); }),
            "recursion \"sums\": 10000 rows of up to 1 children take 160000 bytes in a graph, and 100000 are the most "
            "there can "
            "be");
  EXPECT_EQ(sums(x, Structure::sequence(1000))[0].value().at(999), 1000);
}

}  // namespace
}  // namespace espalier::graph_limits
