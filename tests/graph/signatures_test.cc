/// Two nodes have the same signature exactly when everything that must be equal is, whatever the hashes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/broadcast.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/lookup.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/pick.h"
#include "espalier/ops/scale.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/tanh.h"
#include "tests/graph/zeros.h"

namespace espalier {
namespace {

using testing::zeros;

using Key = std::vector<std::uint32_t>;

SignatureId signature_of(const Expr& x) { return x.graph().signature_id(x.node()); }

/// Interns random keys with a hash of `kinds` values only, and compares with a map of whole keys.
void intern_like_a_map(const std::vector<Key>& keys, std::uint64_t kinds) {
  SignatureTable table;
  std::map<Key, std::int32_t> known;
  for (const Key& key : keys) {
    const std::uint64_t hash = SignatureTable::hash_of(key) % kinds;
    const std::int32_t found = table.find(key, hash);
    const auto in_map = known.find(key);
    RC_ASSERT(found == (in_map == known.end() ? -1 : in_map->second));
    if (found < 0) known[key] = index_of(table.add(key, hash, {}));
  }
  RC_ASSERT(table.size() == known.size());
  for (const auto& [key, id] : known) {
    const std::span<const std::uint32_t> words = table.key(SignatureId{id});
    RC_ASSERT(Key(words.begin(), words.end()) == key);
  }
}

std::vector<Key> random_keys() {
  const auto word = rc::gen::element<std::uint32_t>(0U, 1U, 2U, 0x80000000U, 0xFFFFFFFFU);
  return *rc::gen::container<std::vector<Key>>(rc::gen::nonEmpty(rc::gen::container<Key>(word)));
}

RC_GTEST_PROP(Signatures, AreEqualExactlyWhenTheirKeysAre, ()) { intern_like_a_map(random_keys(), ~std::uint64_t{0}); }

RC_GTEST_PROP(Signatures, OfUnequalKeysDifferThoughTheirHashesCollide, ()) {
  intern_like_a_map(random_keys(), *rc::gen::inRange<std::uint64_t>(1, 3));
}

TEST(Signatures, SurviveTheGrowthOfTheTable) {
  SignatureTable table;
  for (std::uint32_t i = 0; i < 10000; ++i) {
    const Key key{i % 7, i};
    table.add(key, SignatureTable::hash_of(key), {});
  }
  for (std::uint32_t i = 0; i < 10000; ++i) {
    const Key key{i % 7, i};
    ASSERT_EQ(table.find(key, SignatureTable::hash_of(key)), static_cast<std::int32_t>(i));
  }
}

TEST(Signatures, DifferByOpAndShapeAndElementType) {
  Graph graph;
  const Expr a = zeros(graph, {3});
  const Expr b = zeros(graph, {3});
  EXPECT_EQ(signature_of(a), signature_of(b));
  EXPECT_EQ(signature_of(tanh(a)), signature_of(tanh(b)));
  EXPECT_NE(signature_of(tanh(a)), signature_of(scale(a, 2)));
  EXPECT_NE(signature_of(tanh(a)), signature_of(tanh(zeros(graph, {4}))));
  EXPECT_NE(signature_of(tanh(a)), signature_of(tanh(zeros(graph, {1, 3}))));
  EXPECT_NE(signature_of(tanh(a)), signature_of(tanh(zeros(graph, {3}, DType::kFloat64))));
}

TEST(Signatures, DoNotLookAtFields) {
  Graph graph;
  const Expr x = zeros(graph, {3});
  EXPECT_EQ(signature_of(scale(x, 2)), signature_of(scale(x, 3)));
  EXPECT_EQ(signature_of(pick(x, 0)), signature_of(pick(x, 2)));
}

TEST(Signatures, DifferByAttributes) {
  Graph graph;
  const Expr x = graph.constant(1);
  EXPECT_EQ(signature_of(broadcast(x, {2, 3})), signature_of(broadcast(x, {2, 3})));
  EXPECT_NE(signature_of(broadcast(x, {2, 3})), signature_of(broadcast(x, {3, 2})));
  EXPECT_NE(signature_of(broadcast(x, {6})), signature_of(broadcast(x, {1, 6})));
}

TEST(Signatures, DoNotCountTheInputsOfARaggedOp) {
  Graph graph;
  const Expr x = zeros(graph, {3});
  EXPECT_EQ(signature_of(sum({x})), signature_of(sum({x, x, x, x})));
  EXPECT_NE(signature_of(sum({x})), signature_of(sum({zeros(graph, {4})})));
}

TEST(Signatures, TakeSharedInputsByIdentity) {
  const Parameter W("W", Tensor({3, 3}));
  const Parameter V("V", Tensor({3, 3}));
  Graph graph;
  const Expr x = zeros(graph, {3});
  const Expr y = zeros(graph, {3});
  EXPECT_EQ(signature_of(linear(x, W)), signature_of(linear(y, W)));
  EXPECT_NE(signature_of(linear(x, W)), signature_of(linear(x, V))) << "of one shape, but another parameter";
  const Expr stacked = linear(x, zeros(graph, {3, 3}));
  EXPECT_EQ(signature_of(stacked), signature_of(linear(x, zeros(graph, {3, 3})))) << "stacked matrices run together";
  EXPECT_NE(signature_of(stacked), signature_of(linear(x, W)));
  const Expr shared = tanh(graph.parameter(W));
  EXPECT_EQ(signature_of(linear(x, shared)), signature_of(linear(y, shared)));
  EXPECT_NE(signature_of(linear(x, shared)), signature_of(linear(x, tanh(graph.parameter(V)))));
}

TEST(Signatures, TakeAParameterThatIsStackedByItsShape) {
  const Parameter v("v", Tensor({3}));
  Graph graph;
  EXPECT_EQ(signature_of(tanh(graph.parameter(v))), signature_of(tanh(zeros(graph, {3}))));
}

/// What must be equal for two nodes to run together, told from the graph's records alone, as a text.
std::string told_signature(const Graph& graph, NodeId node) {
  const OpInfo& info = *graph.signature(node).info;
  std::string text = std::string(info.name) + " ->";
  text.append(graph.type(node).to_string()).append(" of");
  const std::span<const NodeId> inputs = graph.inputs(node);
  for (std::size_t i = 0; i < (info.is_ragged() ? 1 : inputs.size()); ++i) {
    const Role role = info.takes_any_number() ? Role::kStacked : info.inputs[i].role;
    const bool by_identity = graph.shared(inputs[i]) && (role == Role::kEither || role == Role::kShared);
    text.append(by_identity ? " node " : " ");
    text.append(by_identity ? std::to_string(index_of(inputs[i])) : graph.type(inputs[i]).to_string());
  }
  return text;
}

RC_GTEST_PROP(Signatures, OfRandomGraphsAreEqualExactlyWhenAllElseIs, ()) {
  const Parameter W("W", Tensor({2, 2}));
  const Parameter V("V", Tensor({2, 2}));
  const Parameter u("u", Tensor({2}));
  Graph graph;
  std::vector<Expr> nodes{zeros(graph, {2}),    zeros(graph, {2}),  zeros(graph, {3}),
                          zeros(graph, {2, 2}), graph.parameter(W), graph.parameter(V),
                          graph.parameter(u),   graph.constant(1),  zeros(graph, {2}, DType::kFloat64)};
  const auto any = [&] { return nodes[*rc::gen::inRange<std::size_t>(0, nodes.size())]; };
  const int count = *rc::gen::inRange(0, 60);
  for (int i = 0; i < count; ++i) {
    const std::int32_t size = graph.size();
    const Expr a = any();
    const Expr b = any();
    try {
      switch (*rc::gen::inRange(0, 8)) {
        case 0: nodes.push_back(tanh(a)); break;
        case 1: nodes.push_back(linear(a, b)); break;
        case 2: nodes.push_back(sum(std::vector<Expr>(*rc::gen::inRange<std::size_t>(1, 4), a))); break;
        case 3: nodes.push_back(scale(a, *rc::gen::inRange(0, 3))); break;
        case 4: nodes.push_back(pick(a, *rc::gen::inRange(0, 3))); break;
        case 5: nodes.push_back(broadcast(a, {*rc::gen::inRange(1, 3), 2})); break;
        case 6: nodes.push_back(lookup(a, *rc::gen::inRange(0, 3))); break;
        default: nodes.push_back(ops::record<ops::Mul>({a, b})); break;
      }
    } catch (const UsageError&) {
      RC_ASSERT(graph.size() == size);
    }
  }
  std::map<std::string, SignatureId> by_text;
  std::map<SignatureId, std::string> by_id;
  for (std::int32_t i = 0; i < graph.size(); ++i) {
    const std::string text = told_signature(graph, NodeId{i});
    const SignatureId id = graph.signature_id(NodeId{i});
    RC_ASSERT(by_text.emplace(text, id).first->second == id);
    RC_ASSERT(by_id.emplace(id, text).first->second == text);
  }
}

}  // namespace
}  // namespace espalier
