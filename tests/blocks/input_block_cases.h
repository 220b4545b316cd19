/// Cases of blocks that read inputs, choose and recur.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "espalier/nn/embedding.h"
#include "tests/blocks/block_case.h"
#include "tests/blocks/small_functions.h"

namespace espalier::testing {

inline std::vector<BlockCase> cases_of_inputs(CaseNet& net) {
  using namespace blocks;  // NOLINT(google-build-using-namespace): a table of them
  struct Point {
    double x = 0;
  };
  const nn::Embedding table(net.model / "table", 2, 2);
  Tensor& rows = net.model.parameter("table.table").mutable_value();
  for (std::int64_t i = 0; i < rows.elements(); ++i) rows.set(i, 0.5 * static_cast<double>(i));
  const auto of_table = [&](const Block& row) { return all_of({row >> embedding(table), net.pair}) >> net.times; };
  const Value square = Value::list({Value::list({1, 2}), Value::list({-1, 0})});
  const Value threefold = Value::list({Value::list({3, 6}), Value::list({-3, 0})});
  const Value flat = Value::list({0, 1, 0, 2});
  return {
      {"scalar()", net.number(), "input<Value> -> float[]", {{3, 6}, {-1.5, -3}, {true, 2}}},
      {"vector(size)",
       net.numbers(),
       "input<Value> -> float[2]",
       {{Value::list({1, 2}), Value::list({2, -2})}, {Value::list({0.5, 0}), Value::list({1, 0})}}},
      {"tensor(shape)",
       all_of({tensor({2, 2}), net.three}) >> net.times,
       "input<Value> -> float[2, 2]",
       {{square, threefold}, {flat, Value::list({Value::list({0, 3}), Value::list({0, 6})})}}},
      {"one_hot(start, stop)",
       all_of({one_hot(-1, 1), net.pair}) >> net.times,
       "input<Value> -> float[2]",
       {{-1, Value::list({2, 0})}, {0, Value::list({0, -1})}}},
      {"one_hot(elements, unknown)",
       all_of({one_hot({"red", "blue"}, Unknown::kZeros), net.pair}) >> net.times,
       "input<Value> -> float[2]",
       {{"red", Value::list({2, 0})}, {"blue", Value::list({0, -1})}, {"green", Value::list({0, 0})}}},
      {"input_transform(f)",
       input_transform([](double x) { return x + 1; }) >> net.number(),
       "input<Value> -> float[]",
       {{3, 8}, {-1.5, -1}}},
      {"get(key)",
       all_of({get("x") >> net.number(), get("list") >> get(-1) >> net.number(),
               get("list") >> map(net.number()) >> get(0)}),
       "input<Value> -> (float[], float[], float[])",
       {{Value::map({{"x", 3}, {"list", Value::list({4, 5})}}), Value::list({6, 10, 8})},
        {Value::map({{"list", Value::list({7})}, {"x", 1}}), Value::list({2, 14, 14})}}},
      {"get(&T::member)",
       input_transform([](double x) { return Point{x + 1}; }) >> get(&Point::x) >> net.number(),
       "input<Value> -> float[]",
       {{3, 8}, {0, 2}}},
      {"lookup(vocabulary)",
       of_table(lookup(Vocabulary({"good", "bad"}).unknown(0))),
       "input<Value> -> float[2]",
       {{"bad", Value::list({2, -1.5})}, {"good", Value::list({0, -0.5})}, {"ugly", Value::list({0, -0.5})}}},
      {"embedding(table)",
       of_table(identity()),
       "input<Value> -> float[2]",
       {{1, Value::list({2, -1.5})}, {0, Value::list({0, -0.5})}, {1, Value::list({2, -1.5})}}},
  };
}

inline std::vector<BlockCase> cases_of_choices(CaseNet& net) {
  using namespace blocks;  // NOLINT(google-build-using-namespace): a table of them
  const auto kind = [](const char* name, double x) { return Value::map({{"kind", name}, {"x", x}}); };
  const std::vector<CaseExample> by_kind{{kind("plus", 3), 6}, {kind("minus", 4), -8}, {kind("minus", 0.5), -1}};
  Forward tree = forward("tree");
  const auto is_list = [](const Value& value) { return value.is_list(); };
  tree.resolve_to(one_of(key(is_list), {{true, record({tree(), tree()}) >> function(add)}, {false, net.number()}}));
  const Block of_same = shared(get("x") >> net.number());
  const Value same = Value::map({{"x", 3}});
  return {
      {"key(name)",
       one_of(key("kind"), {{"plus", get("x") >> net.number()}, {"minus", get("x") >> net.number() >> negate}}),
       "input<Value> -> float[]", by_kind},
      {"itself()",
       one_of(itself(), {{1, net.number()}, {2, net.number() >> negate}}),
       "input<Value> -> float[]",
       {{1, 2}, {2, -4}}},
      {"one_of(key, {{key, block}, ...})",
       one_of(key("kind"), {{"plus", identity()}, {"minus", negate}}, get("x") >> net.number()),
       "input<Value> -> float[]", by_kind},
      {"optional(some, none)", optional(net.number()), "input<Value> -> float[]", {{nullptr, 0}, {3, 6}}},
      {"optional(some, none)", optional(net.number(), net.two), "input<Value> -> float[]", {{nullptr, 2}, {3, 6}}},
      {"optional(some, none)",
       optional(map(net.number())),
       "input<Value> -> seq<float[]>",
       {{nullptr, Value::list({})}, {Value::list({3}), Value::list({6})}}},
      {"forward(name)",
       tree(),
       "input<Value> -> float[]",
       {{1, 2}, {Value::list({1, Value::list({2, 3})}), 12}, {Value::list({4, 5}), 18}}},
      {"shared(block)",
       record({{"a", of_same}, {"b", of_same}}),
       "input<Value> -> (float[], float[])",
       {{Value::map({{"a", same}, {"b", same}}), Value::list({6, 6})},
        {Value::map({{"a", same}, {"b", Value::map({{"x", 5}})}}), Value::list({6, 10})}}},
  };
}

}  // namespace espalier::testing
