/// Cases of blocks over sequences, and of those for models over them.
#pragma once

#include <utility>
#include <vector>

#include "espalier/nn/attention.h"
#include "espalier/nn/child_sum_tree_lstm.h"
#include "tests/blocks/block_case.h"

namespace espalier::testing {

inline std::vector<BlockCase> cases_of_sequences(CaseNet& net) {
  using namespace blocks;  // NOLINT(google-build-using-namespace): a table of them
  const auto list = [](std::vector<Value> items) { return Value::list(std::move(items)); };
  const auto running = [](Expr x, Expr s) { return std::pair(s * 10, x + s); };
  const auto divide = [](Expr a, Expr b) { return a / b; };
  const Block numbers = map(net.number());
  const auto each = [&] { return map(net.number()); };
  const std::string to_number = "input<Value> -> float[]";
  const std::string to_numbers = "input<Value> -> seq<float[]>";
  return {
      {"map(block)", each(), to_numbers, {{list({1, 2}), list({2, 4})}, {list({}), list({})}}},
      {"map(block)",
       map(each()),
       "input<Value> -> seq<seq<float[]>>",
       {{list({list({1}), list({}), list({2, 3})}), list({list({2}), list({}), list({4, 6})})}, {list({}), list({})}}},
      {"fold(combine, start)",
       each() >> fold([](Expr s, Expr x) { return s * 0.5 + x; }, Tensor(Shape{}, {1})),
       to_number,
       {{list({1, 2}), 5.25}, {list({}), 1}, {list({3}), 6.5}}},
      {"rnn(cell)",
       each() >> rnn(running, Tensor(Shape{}, {1})),
       "input<Value> -> (seq<float[]>, float[])",
       {{list({1, 2}), list({list({10, 30}), 7})}, {list({}), list({list({}), 1})}}},
      {"rnn_from(cell)",
       record({each(), net.number()}) >> rnn_from(running),
       "input<Value> -> (seq<float[]>, float[])",
       {{list({list({1}), 3}), list({list({60}), 8})}, {list({list({}), 1}), list({list({}), 2})}}},
      {"reduce(combine)",
       each() >> reduce(divide),
       to_number,
       {{list({1, 2, 4}), 0.0625}, {list({3}), 6}, {list({}), 0}}},
      {"reduce(combine)", each() >> reduce(divide, net.two), to_number, {{list({1, 2}), 0.5}, {list({}), 2}}},
      {"sum()", each() >> sum(), to_number, {{list({1, 2, 4}), 14}, {list({}), 0}}},
      {"min()", each() >> min(), to_number, {{list({3, 1, 2}), 2}, {list({}), 0}}},
      {"max()", each() >> max(), to_number, {{list({1, 3, 2}), 6}, {list({}), 0}}},
      {"mean()", each() >> mean(), to_number, {{list({1, 3, 2}), 4}, {list({}), 0}}},
      {"broadcast()",
       net.number() >> broadcast() >> map([](Expr x) { return -x; }),
       "input<Value> -> inf<float[]>",
       {{3, -6}, {1, -2}}},
      {"zip()",
       record({each(), each()}) >> zip(),
       "input<Value> -> seq<(float[], float[])>",
       {{list({list({1, 2}), list({5})}), list({list({2, 10})})}, {list({list({}), list({5})}), list({})}}},
      {"zip_with(block)",
       record({each(), net.number() >> broadcast()}) >> zip_with(net.times),
       to_numbers,
       {{list({list({1, 2}), 3}), list({12, 24})}, {list({list({}), 3}), list({})}}},
      {"ngrams(n)",
       each() >> ngrams(2),
       "input<Value> -> seq<(float[], float[])>",
       {{list({1, 2, 3}), list({list({2, 4}), list({4, 6})})}, {list({1}), list({})}}},
      {"nth()",
       record({each(), identity()}) >> nth(),
       to_number,
       {{list({list({1, 2}), 1}), 4}, {list({list({1, 2, 3}), -3}), 2}}},
      {"length()", all_of({length(), net.two}) >> net.times, to_number, {{list({5, 6, 7}), 6}, {list({}), 0}}},
      {"slice({.start, .stop, .step})",
       each() >> slice({.stop = 0, .step = -1}),
       to_numbers,
       {{list({1, 2, 3}), list({6, 4})}, {list({1}), list({})}}},
  };
}

/// The state of the node and its children by plain code, on the twin.
inline nn::TreeState plain_child_sum(Graph& graph, const CaseNet& net, const nn::ChildSumTreeLstm& cell,
                                     const Value& tree) {
  std::vector<nn::TreeState> children;
  for (const Value& child : tree.at("children").items()) children.push_back(plain_child_sum(graph, net, cell, child));
  const Value& x = tree.at("x");
  const Tensor both({2}, {static_cast<float>(x[0].as_float()), static_cast<float>(x[1].as_float())});
  return cell(graph.input(both) * graph.parameter(net.pair), children);
}

inline std::vector<BlockCase> cases_of_sequence_models(CaseNet& net) {
  using namespace blocks;  // NOLINT(google-build-using-namespace): a table of them
  const auto list = [](std::vector<Value> items) { return Value::list(std::move(items)); };
  const auto each = [&] { return map(net.numbers()); };
  const Value ones = list({1, 1});
  const Value twos = list({2, 2});
  const auto total = [](Expr x, Expr s) { return std::pair(x + s, x + s); };
  const auto cell = [&] { return function(total).takes("(float[2], float[2])"); };
  const auto add_up = [](Expr x) { return sum(x, 0); };

  const nn::ChildSumTreeLstm layer(net.model / "tree", 2, 2);
  Forward tree = forward("tree");
  tree.resolve_to(all_of({get("x") >> net.numbers(), get("children") >> map(tree())}) >> child_sum(layer));
  const auto node = [&](const Value& x, std::vector<Value> children) {
    return Value::map({{"x", x}, {"children", list(std::move(children))}});
  };
  const auto by_hand = [&](const Value& input) -> CaseExample {
    Graph graph({.training = false, .execution = Execution::kPlain});
    const nn::TreeState state = plain_child_sum(graph, net, layer, input);
    const auto values = [&](const Expr& x) { return list({x.value().at(0), x.value().at(1)}); };
    return {input, list({values(state.h), values(state.c)})};
  };
  return {
      {"attention(layer)",  // without a query, the mean; of one key, its value
       record({vector(2), each()}) >> attention(nn::DotAttention()),
       "input<Value> -> float[2]",
       {{list({list({0, 0}), list({ones, twos})}), list({3, -1.5})}, {list({ones, list({twos})}), list({4, -2})}}},
      {"attention(layer)",
       record({vector(2), map(vector(2)), each()}) >> attention(nn::DotAttention()),
       "input<Value> -> float[2]",
       {{list({list({0, 0}), list({ones, ones}), list({ones, twos})}), list({3, -1.5})},
        {list({ones, list({ones}), list({twos})}), list({4, -2})}}},
      {"bidirectional(forward, backward)",
       each() >> bidirectional(cell(), cell()),
       "input<Value> -> seq<float[4]>",
       {{list({ones, twos}), list({list({2, -1, 6, -3}), list({6, -3, 4, -2})})}, {list({}), list({})}}},
      {"pad(before, after)",
       map(net.number()) >> pad(1, 2),
       "input<Value> -> seq<float[]>",
       {{list({5}), list({0, 10, 0, 0})}, {list({}), list({0, 0, 0})}}},
      {"conv(width, layer, padding)",
       each() >> conv(2, add_up),
       "input<Value> -> seq<float[]>",
       {{list({ones, twos}), list({3})}, {list({ones}), list({})}}},
      {"conv(width, layer, padding)",
       each() >> conv(3, add_up, Padding::kSame),
       "input<Value> -> seq<float[]>",
       {{list({ones, twos}), list({3, 3})}, {list({ones}), list({1})}}},
      {"stack(length)",
       each() >> stack(2),
       "input<Value> -> float[2, 2]",
       {{list({ones, twos}), list({list({2, -1}), list({4, -2})})},
        {list({ones}), list({list({2, -1}), list({0, 0})})}}},
      {"child_sum(layer)",
       each() >> child_sum(),
       "input<Value> -> float[2]",
       {{list({ones, twos}), list({6, -3})}, {list({}), list({0, 0})}}},
      {"child_sum(layer)",
       tree(),
       "input<Value> -> (float[2], float[2])",
       {by_hand(node(ones, {})), by_hand(node(twos, {node(ones, {}), node(ones, {node(twos, {})})}))}},
  };
}

}  // namespace espalier::testing
