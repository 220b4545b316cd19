/// What the conformance tests share: every op of the registry as a test parameter, the nodes that its samples describe,
/// the reference result and gradient of a node, and comparisons.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/graph/op_info.h"
#include "espalier/graph/op_sample.h"
#include "espalier/ops/plain_step.h"

namespace espalier::conformance {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Every op that computes something from a row of each operand, or from those of any number. Leaves are data; what has
/// to do with many rows a node is tested with those (tests/exec/many_rows_test.cc).
inline std::vector<std::int32_t> computing_ops() {
  std::vector<std::int32_t> ops;
  for (std::int32_t i = 0; i < op_count(); ++i)
    if (const OpInfo& info = op_info(OpId{i}); info.kind != Kind::kLeaf && !info.takes_whole && !info.row_an_operand)
      ops.push_back(i);
  return ops;
}

inline std::string name_of_op(const ::testing::TestParamInfo<std::int32_t>& test) {
  return std::string(op_info(OpId{test.param}).name);
}

class OpTest : public ::testing::TestWithParam<std::int32_t> {
 protected:
  const OpInfo& info() const { return op_info(OpId{GetParam()}); }
};

// --- nodes -----------------------------------------------------------------------------------------------------------

inline std::vector<Shape> shapes_of(const OpSample& sample) {
  if (!sample.expected) return sample.shapes;
  std::vector<Shape> shapes;
  for (const Tensor& input : sample.inputs) shapes.push_back(input.shape());
  return shapes;
}

/// The shapes an op's shape rule sees: of ragged inputs, which are all alike, only one.
inline std::vector<Shape> inferred_from(const OpInfo& info, std::vector<Shape> shapes) {
  if (info.is_ragged() && shapes.size() > 1) shapes.resize(1);
  return shapes;
}

inline Shape infer(const OpInfo& info, const OpSample& sample) {
  const std::vector<Shape> shapes = inferred_from(info, shapes_of(sample));
  return info.infer(sample.call.attrs.data(), InputShapes(info.name, info.inputs, shapes));
}

/// One use of an op: what it is given, as float32.
struct Node {
  const OpSample* sample = nullptr;
  std::vector<Shape> shapes;
  Shape out;
  std::vector<std::vector<float>> inputs;

  const void* attrs() const { return sample->call.attrs.data(); }
  const void* fields() const { return sample->call.fields.data(); }
  std::size_t elements() const { return static_cast<std::size_t>(out.elements()); }
};

/// `count` distinct odd multiples of 1/64 between low and high, in random order; where there are too few of them, of
/// 1/128, 1/256 and so on. So none is 0 and no two are equal.
inline std::vector<float> distinct_numbers(std::size_t count, double low, double high, Random& random) {
  for (double unit = 1.0 / 64;; unit /= 2) {
    std::vector<float> numbers;
    for (double k = std::ceil(low / unit); k * unit <= high; ++k)
      if (std::fmod(k, 2) != 0) numbers.push_back(static_cast<float>(k * unit));
    if (numbers.size() < count) continue;
    random.shuffle(std::span<float>(numbers));
    numbers.resize(count);
    return numbers;
  }
}

/// A node of a sample: with the sample's own inputs, or with random ones. `operands` is how many inputs a ragged node
/// has; 0 is as many as the sample.
inline Node make_node(const OpInfo& info, const OpSample& sample, Random& random, std::size_t operands = 0) {
  Node node;
  node.sample = &sample;
  node.shapes = shapes_of(sample);
  node.out = infer(info, sample);
  for (const Tensor& input : sample.inputs) {
    const std::span<const float> values = input.as<float>();
    node.inputs.emplace_back(values.begin(), values.end());
  }
  if (info.is_ragged() && operands > 0) {
    node.shapes.resize(operands, node.shapes.front());
    if (sample.expected) node.inputs.resize(operands, node.inputs.front());
  }
  if (sample.expected) return node;

  std::size_t count = 0;
  for (const Shape& shape : node.shapes) count += static_cast<std::size_t>(shape.elements());
  const std::vector<float> numbers = distinct_numbers(count, sample.low, sample.high, random);
  auto next = numbers.begin();
  for (const Shape& shape : node.shapes) {
    node.inputs.emplace_back(next, next + shape.elements());
    next += shape.elements();
  }
  return node;
}

// --- the reference ---------------------------------------------------------------------------------------------------

template <class T>
std::vector<std::vector<T>> inputs_as(const Node& node) {
  std::vector<std::vector<T>> result;
  for (const auto& input : node.inputs) result.emplace_back(input.begin(), input.end());
  return result;
}

template <class T>
std::vector<T> plain(const OpInfo& info, const Node& node, const std::vector<std::vector<T>>& inputs) {
  const std::vector<std::span<const T>> views(inputs.begin(), inputs.end());
  std::vector<T> y(node.elements());
  const PlainIn<T> in{views, node.shapes, node.out};
  if constexpr (std::is_same_v<T, float>)
    info.plain_float(node.attrs(), node.fields(), in, y);
  else
    info.plain_double(node.attrs(), node.fields(), in, y);
  return y;
}

template <class T>
std::vector<T> plain(const OpInfo& info, const Node& node) {
  return plain<T>(info, node, inputs_as<T>(node));
}

/// The gradient by every input, in double, by automatic differentiation of the plain code.
inline std::vector<std::vector<double>> reference_gradient(const OpInfo& info, const Node& node,
                                                           const std::vector<double>& dy) {
  const std::vector<std::vector<double>> inputs = inputs_as<double>(node);
  const std::vector<std::span<const double>> views(inputs.begin(), inputs.end());
  std::vector<std::vector<double>> gradients;
  for (const auto& input : inputs) gradients.emplace_back(input.size(), 0.0);
  const std::vector<std::span<double>> into(gradients.begin(), gradients.end());
  ops::plain_gradient<double>(info.plain_var, node.attrs(), node.fields(),
                              PlainIn<double>{views, node.shapes, node.out}, dy, into);
  return gradients;
}

// --- comparing -------------------------------------------------------------------------------------------------------

/// The largest finite magnitude; 0 of nothing.
template <class T>
double largest(std::span<const T> values) {
  double result = 0;
  for (T value : values)
    if (std::isfinite(value)) result = std::max(result, std::abs(static_cast<double>(value)));
  return result;
}
template <class T>
double largest(const std::vector<T>& values) {
  return largest(std::span<const T>(values));
}

inline bool near(double actual, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <= tolerance;
}

template <class A, class B>
::testing::AssertionResult all_near(std::span<const A> actual, std::span<const B> expected, double tolerance) {
  if (actual.size() != expected.size())
    return ::testing::AssertionFailure() << actual.size() << " elements, expected " << expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!near(static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance))
      return ::testing::AssertionFailure()
             << "element " << i << " is " << actual[i] << ", expected " << expected[i] << " within " << tolerance;
  return ::testing::AssertionSuccess();
}
template <class A, class B>
::testing::AssertionResult all_near(const std::vector<A>& actual, const std::vector<B>& expected, double tolerance) {
  return all_near(std::span<const A>(actual), std::span<const B>(expected), tolerance);
}

/// For SCOPED_TRACE: which sample, and how to get its numbers again.
inline std::string sample_text(const OpInfo& info, const Samples& samples, std::size_t index, std::uint64_t seed) {
  std::string text = std::string(info.name) + ", sample " + std::to_string(index) + " of shapes";
  for (const Shape& shape : shapes_of(samples[index])) text.append(" ").append(shape.to_string());
  return text + ", seed " + std::to_string(seed);
}

}  // namespace espalier::conformance
