/// Cases of blocks made of blocks, of those over tensors, and of those that put something aside.
#pragma once

#include <utility>
#include <vector>

#include "tests/blocks/block_case.h"
#include "tests/blocks/small_functions.h"

namespace espalier::testing {

inline std::vector<BlockCase> cases_of_wiring(CaseNet& net) {
  using namespace blocks;  // NOLINT(google-build-using-namespace): a table of them
  const auto field = [](double a, const Value& b) { return Value::map({{"a", a}, {"b", b}}); };
  Composition diamond("diamond");
  const Wire x = diamond(net.number(), diamond.input());
  diamond.output().reads(diamond(net.times, {x, diamond(negate, x)}));
  return {
      {"a >> b",
       net.number() >> negate >> espalier::tanh >> negate,
       "input<Value> -> float[]",
       {{0, 0}, {0.5, 0.76159416}}},
      {"record({{key, block}, ...})",
       record({{"b", net.numbers()}, {"a", net.number()}}),
       "input<Value> -> (float[2], float[])",
       {{field(1, Value::list({2, 3})), Value::list({Value::list({4, -3}), 2})},
        {field(0, Value::list({0, 1})), Value::list({Value::list({0, -1}), 0})}}},
      {"record({block, ...})",
       record({net.number(), net.numbers()}) >> record({negate, identity()}),
       "input<Value> -> (float[], float[2])",
       {{Value::list({1, Value::list({2, 3})}), Value::list({-2, Value::list({4, -3})})},
        {Value::list({0, Value::list({0, 1})}), Value::list({0, Value::list({0, -1})})}}},
      {"all_of({block, ...})",
       net.number() >> all_of({identity(), negate}),
       "input<Value> -> (float[], float[])",
       {{2, Value::list({4, -4})}, {-1, Value::list({-2, 2})}}},
      {"identity()", identity() >> net.number() >> identity(), "input<Value> -> float[]", {{2, 4}, {-1, -2}}},
      {"nothing()",
       net.number() >> all_of({nothing(), identity()}),
       "input<Value> -> (void, float[])",
       {{2, Value::list({nullptr, 4})}, {-1, Value::list({nullptr, -2})}}},
      {"Composition", diamond, "input<Value> -> float[]", {{1, -4}, {-3, -36}}},
  };
}

inline std::vector<BlockCase> cases_of_tensors(CaseNet& net) {
  using namespace blocks;  // NOLINT(google-build-using-namespace): a table of them
  const Value two_numbers = Value::list({1, Value::list({2, 3})});
  const Value two_others = Value::list({-1, Value::list({0, 1})});
  const auto turn = [](Expr a, Expr b) { return std::pair(b * 2, a); };
  const auto swap = [](const DynamicCall&, const blocks::Output& x) {
    return blocks::Output(blocks::Type::tuple({x[1].type(), x[0].type()}), {x[1], x[0]});
  };
  return {
      {"function(f)",
       record({net.number(), net.numbers()}) >> function(turn),
       "input<Value> -> (float[2], float[])",
       {{two_numbers, Value::list({Value::list({8, -6}), 2})}, {two_others, Value::list({Value::list({0, -2}), -2})}}},
      {"dynamic_function(label, f)",
       record({net.number(), net.numbers()}) >> dynamic_function("swap", swap, {"model.cc", 1}),
       "input<Value> -> (float[2], float[])",
       {{two_numbers, Value::list({Value::list({4, -3}), 2})}, {two_others, Value::list({Value::list({0, -1}), -2})}}},
      {"from_tensor(t)",
       all_of({from_tensor(net.pair), from_tensor(Tensor({2}, {1, 3}))}) >> net.times,
       "input<Value> -> float[2]",
       {{1, Value::list({2, -3})}, {"anything", Value::list({2, -3})}}},
      {"concat(options)",
       record({net.number(), net.numbers()}) >> concat(),
       "input<Value> -> float[3]",
       {{two_numbers, Value::list({2, 4, -3})}, {two_others, Value::list({-2, 0, -1})}}},
      {"concat(options)",
       all_of({net.numbers(), BlockArg{net.number(), net.number()}}) >> concat({.axis = -1, .flatten = true}),
       "input<Value> -> float[4]",
       {{Value::list({1, 2}), Value::list({2, -2, 2, 4})}, {Value::list({0, 3}), Value::list({0, -3, 0, 6})}}},
      {"zeros(type)",
       all_of({zeros("(float[2], seq<float[]>)"), net.number()}),
       "input<Value> -> ((float[2], seq<float[]>), float[])",
       {{1, Value::list({Value::list({Value::list({0, 0}), Value::list({})}), 2})},
        {2, Value::list({Value::list({Value::list({0, 0}), Value::list({})}), 4})}}},
  };
}

inline std::vector<BlockCase> cases_of_collecting(CaseNet& net) {
  using namespace blocks;  // NOLINT(google-build-using-namespace): a table of them
  const auto labelled = [](double x, const char* label) { return Value::list({x, label}); };
  return {
      {"metric(name)",
       map(net.number() >> metric("numbers")) >> nothing(),
       "input<Value> -> void",
       {{Value::list({1, 3}), nullptr, Value::list({2, 6})}, {Value::list({}), nullptr}}},
      {"metric(name)",
       record({net.number(), identity()}) >> metric("numbers"),
       "input<Value> -> void",
       {{labelled(1, "a"), nullptr, Value::list({2, "a"})}, {labelled(5, "b"), nullptr, Value::list({10, "b"})}}},
      {"loss(name, weight)",
       map(net.number() >> loss("numbers", 3)) >> nothing(),
       "input<Value> -> void",
       {{Value::list({1, 3}), nullptr, Value::list({24})}, {Value::list({2}), nullptr, Value::list({12})}}},
      {"tap(name)",
       map(net.number() >> tap("each")) >> sum() >> tap("sum"),
       "input<Value> -> float[]",
       {{Value::list({1, 3}), 8, Value::list({2, 6, 8})}, {Value::list({}), 0, Value::list({0})}}},
      {"named(name, block)", named("number", net.number()), "input<Value> -> float[]", {{1, 2}, {3, 6}}},
  };
}

}  // namespace espalier::testing
