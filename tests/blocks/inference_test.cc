/// Types flow both ways, and the order of wiring makes no difference.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "espalier/nn/linear.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::add;

TEST(Inference, FlowsForwardAndBackward) {
  const Block first = identity();
  const Block second = identity();
  const Block both = first >> second;
  EXPECT_EQ(both.input_text(), "?");
  static_cast<void>(second.gives("seq<float[3]>"));
  EXPECT_EQ(first.input_text(), "seq<float[3]>");
}

TEST(Inference, FlowsBackwardThroughPartsOfTuples) {
  const Block left = identity();
  const Block right = identity();
  const Block pair = record({left, right});
  const Block sum_of_both = pair >> function(add);
  EXPECT_EQ(pair.output_text(), "(?, ?)");
  static_cast<void>(left.takes(3));
  EXPECT_EQ(pair.output_text(), "(float[3], ?)");
  static_cast<void>(right.takes(3));
  EXPECT_EQ(sum_of_both.output_text(), "float[3]");
}

TEST(Inference, KnowsElementsOfSequencesFromEitherSide) {
  const Block inside = identity();
  const Block outside = map(inside);
  static_cast<void>(outside.gives("inf<float[2]>"));
  EXPECT_EQ(outside.input_text(), "inf<float[2]>");
  EXPECT_EQ(inside.input_text(), "float[2]");
}

TEST(Inference, FlowsThroughSequencesBeforeItIsKnownWhatHoldsThem) {
  const Block words = get("words") >> map(vector(4));
  EXPECT_EQ(words.output_text(), "a sequence of float[4]");
  EXPECT_EQ((words >> sum()).output_text(), "float[4]");
  EXPECT_EQ((map(vector(4)) >> ngrams(2) >> map(concat()) >> max()).output_text(), "float[8]");
  const auto times = [](Expr x, Expr y) { return x * y; };
  EXPECT_EQ((all_of({map(vector(4)), map(scalar())}) >> zip_with(times) >> sum()).output_text(), "float[4]");
}

TEST(Inference, FlowsBackThroughSequencesToo) {
  const Block inside = identity();
  const Block whole = map(inside) >> sum() >> function([](Expr x) { return x; }).takes(3);
  EXPECT_EQ(inside.input_text(), "float[3]");
  EXPECT_EQ(whole.input_text(), "a sequence of float[3]");
}

TEST(Inference, LeavesTuplesThatAreSlicedAlone) {
  const Block parts = identity();
  const Block both = parts >> all_of({slice({.stop = 1}) >> map(vector(2)), slice({.start = 1}) >> map(function(add))});
  static_cast<void>(parts.takes("(input<Value>, (float[3], float[3]))"));
  EXPECT_EQ(both.output_text(), "(seq<float[2]>, seq<float[3]>)");
}

TEST(Inference, RefusesATypeThatHoldsItself) {
  EXPECT_THROW(
      {
        Forward loop = forward("loop");
        loop.resolve_to(all_of({loop()}));
      },
      UsageError);
}

/// Wires one model in any order of its connections, and tells what was found.
std::string wired(const std::vector<std::size_t>& order) {
  Composition c("c");
  const Wire words = c.add(map(vector(4)).named("words"));
  const Wire query = c.add(vector(4).named("query"));
  const Wire repeated = c.add(broadcast());
  const Wire pairs = c.add(zip());
  const Wire scored = c.add(map([](Expr x, Expr q) { return x * q; }));
  const Wire total = c.add(sum());
  const Wire both = c.add(concat());
  const Wire start = c.add(get("words"));
  const Wire other = c.add(get("query"));
  const std::vector<std::function<void()>> connections{
      [&] { start.reads(c.input()); },     [&] { other.reads(c.input()); },
      [&] { words.reads(start); },         [&] { query.reads(other); },
      [&] { repeated.reads(query); },      [&] { pairs.reads({words, repeated}); },
      [&] { scored.reads(pairs); },        [&] { total.reads(scored); },
      [&] { both.reads({total, query}); }, [&] { c.output().reads({both, total}); }};
  for (const std::size_t i : order) connections[i]();
  const Block block = c;
  const Program program(block);
  return block.describe();
}

RC_GTEST_PROP(Inference, DoesNotDependOnTheOrderOfWiring, ()) {
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::string expected = wired(order);
  RC_ASSERT(expected.find("-> (float[8], float[4])") != std::string::npos);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  RC_ASSERT(wired(order) == expected);
}

}  // namespace
}  // namespace espalier::blocks
