/// Random blocks over random data: batched equals the reference.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

constexpr std::int32_t kSize = 3;

struct Net {
  Model model;
  nn::Linear one{model / "one", kSize, kSize};
  nn::Linear two{model / "two", 2 * kSize, kSize};
  nn::LstmCell lstm{model / "lstm", kSize, kSize};
};

const auto squashed_sum = [](Expr a, Expr b) { return tanh(a + b); };

/// input<Value> -> float[kSize]; data are vectors, or lists of data.
Block random_tensor(const Net& net, const Block& recursion, int depth) {
  const auto part = [&] { return random_tensor(net, recursion, depth - 1); };
  const auto children = [&] { return get("children") >> map(recursion); };
  if (depth == 0) return get("x") >> vector(kSize);
  switch (*rc::gen::inRange(0, 10)) {
    case 0: return part() >> net.one >> espalier::tanh;
    case 1: return all_of({part(), part()}) >> function(squashed_sum);
    case 2: return all_of({part(), part()}) >> concat() >> net.two;
    case 3: return children() >> sum();
    case 4: return children() >> reduce(squashed_sum);
    case 5: return children() >> fold(squashed_sum, zeros(kSize));
    case 6: return children() >> rnn(net.lstm) >> get(0) >> slice({.step = -1}) >> mean();
    case 7: return all_of({children(), part() >> broadcast()}) >> zip_with(squashed_sum) >> max();
    case 8: return one_of(key("kind"), {{0, part()}, {1, part()}, {2, part()}});
    default: return children() >> ngrams(2) >> map(concat() >> net.two) >> min();
  }
}

/// Nodes with a vector, a kind and up to three children.
Value random_data(int depth) {
  std::vector<Value> x;
  for (std::int32_t i = 0; i < kSize; ++i) x.emplace_back(*rc::gen::inRange(-8, 9) / 4.0);
  std::vector<Value> children;
  if (depth > 0)
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) children.push_back(random_data(depth - 1));
  return Value::map({{"x", Value::list(x)}, {"kind", *rc::gen::inRange(0, 3)}, {"children", Value::list(children)}});
}

RC_GTEST_PROP(RandomBlocks, BatchedEqualsTheReference, ()) {
  const Net net;
  Forward tree = forward("tree");
  const Block recursion = tree();
  const int depth = *rc::gen::inRange(1, 5);
  tree.resolve_to(all_of({random_tensor(net, recursion, depth), get("x") >> vector(kSize)}) >> function(squashed_sum));
  static_cast<void>(tree().gives(kSize));
  const auto program = Program::of<Value>(tree());
  std::vector<Value> inputs;
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i) inputs.push_back(random_data(3));
  const auto numbers = [&](const GraphOptions& options) {
    return testing::numbers_of(net.model, options, [&](Graph& graph, std::vector<Expr>&) {
      return testing::loss_of_outputs(graph, program, inputs);
    });
  };
  const std::vector<Tensor> expected = numbers({.execution = Execution::kPlain});
  const std::vector<Tensor> given = numbers({});
  for (std::size_t t = 0; t < given.size(); ++t) {
    double largest = 0.1;
    for (std::int64_t i = 0; i < given[t].elements(); ++i) largest = std::max(largest, std::abs(expected[t].at(i)));
    for (std::int64_t i = 0; i < given[t].elements(); ++i)
      RC_ASSERT(std::abs(given[t].at(i) - expected[t].at(i)) <= 3e-4 * largest);
  }
  std::size_t next = 0;
  for (const Result& result : stream(program, inputs))
    testing::expect_equal_values(to_value(result), to_value(program.eval(inputs[next++])), "among others");
}

}  // namespace
}  // namespace espalier::blocks
