/// Which instance a node belongs to, and what identifies the random ops of an instance.
#include <gtest/gtest.h>

#include "espalier/graph/graph.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/lookup.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/tanh.h"

namespace espalier {
namespace {

InstanceId instance_of(const Expr& x) { return x.graph().instance(x.node()); }

TEST(Instances, WithoutAMarkNodesBelongToNone) {
  Graph graph;
  EXPECT_EQ(instance_of(tanh(graph.constant(1))), kNoInstance);
  EXPECT_EQ(graph.instances(), 0);
}

TEST(Instances, AnOperationBelongsToTheInstanceOfItsOperands) {
  Graph graph;
  graph.begin_instance();
  const Expr first = graph.constant(1);
  graph.begin_instance();
  const Expr second = graph.constant(2);
  EXPECT_EQ(instance_of(first), InstanceId{0});
  EXPECT_EQ(instance_of(second), InstanceId{1});
  EXPECT_EQ(instance_of(tanh(first)), InstanceId{0}) << "though recorded within the second";
  EXPECT_EQ(graph.instances(), 2);
}

TEST(Instances, WhatJoinsSeveralIsJoint) {
  Graph graph;
  const Expr none = graph.constant(0);
  graph.begin_instance();
  const Expr first = graph.constant(1);
  graph.begin_instance();
  const Expr second = graph.constant(2);
  const Expr joint = sum({first, second});
  EXPECT_EQ(instance_of(joint), kJoint);
  EXPECT_EQ(instance_of(tanh(joint)), kJoint);
  EXPECT_EQ(instance_of(mul(joint, first)), kJoint);
  EXPECT_EQ(instance_of(mul(first, joint)), kJoint);
  EXPECT_EQ(instance_of(mul(none, first)), InstanceId{0}) << "what belongs to none joins nothing";
}

TEST(Instances, ParametersBelongToNone) {
  const Parameter W("W", Tensor({2, 2}));
  const Parameter v("v", Tensor({2}));
  Graph graph;
  graph.begin_instance();
  const Expr x = graph.input({2}, std::vector<float>(2));
  const Expr shared = tanh(graph.parameter(v));
  EXPECT_EQ(instance_of(graph.parameter(v)), kNoInstance);
  EXPECT_EQ(instance_of(shared), kNoInstance);
  EXPECT_TRUE(graph.shared(shared.node()));
  EXPECT_EQ(instance_of(linear(x, W)), InstanceId{0});
  EXPECT_FALSE(graph.shared(linear(x, W).node()));
}

TEST(Instances, ALookupBelongsToTheCurrentOne) {
  const Parameter table("words", Tensor({3, 2}));
  Graph graph;
  graph.begin_instance();
  graph.begin_instance();
  const Expr word = lookup(graph, table, 1);
  EXPECT_EQ(instance_of(word), InstanceId{1});
  EXPECT_FALSE(graph.shared(word.node()));
}

TEST(Instances, KeysAndNumbersIdentifyRandomOps) {
  Graph graph;
  graph.begin_instance();
  graph.begin_instance();
  EXPECT_EQ(graph.next_random_place().instance_key, 1U) << "by default the number of the instance";
  EXPECT_EQ(graph.next_random_place().number, 1U);
  graph.begin_instance(77);
  const Graph::RandomPlace place = graph.next_random_place();
  EXPECT_EQ(place.instance_key, 77U);
  EXPECT_EQ(place.number, 0U) << "counted anew in each instance";
  EXPECT_EQ(graph.instances(), 3);
}

TEST(Instances, AreForgottenByClear) {
  Graph graph;
  graph.begin_instance(77);
  graph.next_random_place();
  graph.clear();
  EXPECT_EQ(graph.instances(), 0);
  EXPECT_EQ(instance_of(graph.constant(1)), kNoInstance);
  graph.begin_instance();
  EXPECT_EQ(graph.next_random_place().instance_key, 0U);
}

TEST(Instances, CountFromTheFirstKeyOfTheirPart) {
  Graph graph;
  graph.set_first_key(10);
  graph.begin_instance();
  graph.begin_instance();
  EXPECT_EQ(graph.next_random_place().instance_key, 11U);
  graph.clear();
  graph.begin_instance();
  EXPECT_EQ(graph.next_random_place().instance_key, 0U);
}

TEST(Instances, NoneSharesItsRandomNumbersWithWhatIsOutsideOfAll) {
  Graph graph;
  Graph other_part;
  other_part.set_first_key(1);
  const std::uint64_t outside = graph.next_random_place().instance_key;
  EXPECT_NE(outside, other_part.next_random_place().instance_key);
  for (int i = 0; i < 3; ++i) {
    graph.begin_instance();
    EXPECT_NE(graph.next_random_place().instance_key, outside);
  }
}

}  // namespace
}  // namespace espalier
