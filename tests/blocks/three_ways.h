/// Runs a block in three ways that must agree: one instance after the other by the reference twin, batched alone, and
/// batched among instances of other shapes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "espalier/blocks/blocks.h"
#include "espalier/data/value.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refusal.h"

namespace espalier::testing {

inline void expect_equal_values(const Value& given, const Value& expected, const std::string& way) {
  if (expected.is_list()) {
    ASSERT_TRUE(given.is_list()) << way << ": " << given.to_text() << ", expected " << expected.to_text();
    ASSERT_EQ(given.size(), expected.size()) << way << ": " << given.to_text() << ", expected " << expected.to_text();
    for (std::size_t i = 0; i < expected.size(); ++i) expect_equal_values(given[i], expected[i], way);
  } else if (expected.is_float() || expected.is_integer()) {
    ASSERT_TRUE(given.is_float() || given.is_integer()) << way << ": " << given.to_text();
    EXPECT_NEAR(given.as_float(), expected.as_float(), 1e-5 * (1 + std::abs(expected.as_float()))) << way;
  } else {
    EXPECT_TRUE(given == expected) << way << ": " << given.to_text() << ", expected " << expected.to_text();
  }
}

struct Example {
  Value input;
  Value expected;
};

/// Tensors are compared as lists of numbers.
inline void expect_three_ways(const blocks::Block& block, const std::vector<Example>& examples) {
  const auto program = blocks::Program::of<Value>(block);
  std::vector<Value> inputs;
  for (const Example& example : examples) {
    inputs.push_back(example.input);
    const GraphOptions twin{.training = false, .execution = Execution::kPlain};
    expect_equal_values(to_value(program.eval(example.input, twin)), example.expected, "by the twin");
    expect_equal_values(to_value(program.eval(example.input)), example.expected, "alone");
  }
  std::size_t i = 0;
  for (const blocks::Result& result : blocks::stream(program, inputs))
    expect_equal_values(to_value(result), examples[i++].expected, "among others");
  EXPECT_EQ(i, examples.size());
}

/// A number of all tensors of an output, with a weight of its own for each.
inline void add_terms(const blocks::Output& output, std::vector<Expr>& terms) {
  for (const Expr& leaf : output.leaves())
    if (leaf.shape().elements() > 0)
      terms.push_back(asymmetric_sum(reshape(leaf, {leaf.shape().elements()})) * (1 + 0.3 * double(terms.size())));
}

inline Expr loss_of_outputs(Graph& graph, const blocks::Program& program, const std::vector<Value>& inputs) {
  std::vector<Expr> terms;
  for (const blocks::Output& output : program.record_all(graph, inputs).outputs) add_terms(output, terms);
  return sum(terms);
}

/// The gradients of all parameters: batched against the twin in float32, then against differences in float64.
inline void expect_gradients(Model& model, const blocks::Block& block, const std::vector<Value>& inputs) {
  const auto program = blocks::Program::of<Value>(block);
  const auto loss = [&](Graph& graph) { return loss_of_outputs(graph, program, inputs); };
  const LossOf record = [&](Graph& graph, std::vector<Expr>&) { return loss(graph); };
  expect_near(numbers_of(model, {}, record), numbers_of(model, {.execution = Execution::kPlain}, record), "batched");
  randomise(model);
  check_gradients(model, loss, 1e-6);
}

/// What f is refused with, and every line of the test as "here", since those change.
template <class F>
std::string refusal_here(const F& f, std::string file = __builtin_FILE()) {
  std::string text = refusal_of(f);
  file = file.substr(file.rfind('/') + 1) + ":";
  for (std::size_t at = text.find(file); at != std::string::npos; at = text.find(file, at)) {
    const std::size_t end = text.find_first_not_of("0123456789", at + file.size());
    text.replace(at, std::min(end, text.size()) - at, "here");
  }
  return text;
}

}  // namespace espalier::testing
