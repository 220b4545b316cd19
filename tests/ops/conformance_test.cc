/// Conformance of every op, without code per op: what it says about itself, its hand-computed outputs, and the gradient
/// of its plain code in double.
#include <algorithm>
#include <cmath>

#include "tests/ops/conformance.h"

namespace espalier::conformance {
namespace {

constexpr std::uint64_t kSeeds[] = {1, 2, 3};

class Conformance : public OpTest {};

TEST_P(Conformance, BringsAnOutputComputedByHand) {
  const Samples samples = info().samples();
  EXPECT_TRUE(std::any_of(samples.begin(), samples.end(), [](const OpSample& s) { return s.expected.has_value(); }));
}

TEST_P(Conformance, BringsRefusalsUnlessItTakesAnything) {
  const bool takes_anything = info().kind == Kind::kMap && info().inputs.size() == 1 && info().check == nullptr;
  EXPECT_TRUE(takes_anything || !info().refusals().empty());
}

TEST_P(Conformance, KeepsOnlyWhatItHas) {
  for (std::string_view name : info().keep.only) {
    if (name.empty()) continue;
    EXPECT_TRUE(std::any_of(info().inputs.begin(), info().inputs.end(), [&](const Input& i) { return i.name == name; }))
        << name;
    EXPECT_FALSE(info().keep.inputs) << "names " << name << " and keeps all inputs";
  }
}

TEST_P(Conformance, StatesItsContract) {
  EXPECT_FALSE(info().contract.empty());
  if (info().takes_any_number()) return;
  for (const Input& input : info().inputs) EXPECT_NE(input.role, Role::kRagged) << input.name;
  for (const Input& input : info().inputs) EXPECT_NE(input.role, Role::kMany) << input.name;
}

TEST_P(Conformance, SamplesHaveTheSizesOfTheOp) {
  const Samples samples = info().samples();
  for (std::size_t s = 0; s < samples.size(); ++s) {
    SCOPED_TRACE(sample_text(info(), samples, s, 0));
    EXPECT_EQ(samples[s].call.attrs.size(), static_cast<std::size_t>(info().attr_words) * 4);
    EXPECT_EQ(samples[s].call.fields.size(), static_cast<std::size_t>(info().field_bytes));
    EXPECT_EQ(samples[s].inputs.empty(), !samples[s].expected.has_value());
    EXPECT_TRUE(info().takes_any_number() || shapes_of(samples[s]).size() == info().inputs.size());
    const Shape shape = infer(info(), samples[s]);
    EXPECT_EQ(shape, samples[s].expected ? samples[s].expected->shape() : shape);
  }
}

TEST_P(Conformance, PlainCodeGivesTheOutputsComputedByHand) {
  const Samples samples = info().samples();
  for (std::size_t s = 0; s < samples.size(); ++s) {
    if (!samples[s].expected) continue;
    SCOPED_TRACE(sample_text(info(), samples, s, 0));
    Random random(0);
    const Node node = make_node(info(), samples[s], random);
    const std::span<const float> by_hand = samples[s].expected->as<float>();
    const std::vector<float> expected(by_hand.begin(), by_hand.end());
    const double tolerance = 1e-6 * std::max(largest(expected), 1e-2);
    EXPECT_TRUE(all_near(plain<double>(info(), node), expected, tolerance)) << "in double";
    EXPECT_TRUE(all_near(plain<float>(info(), node), expected, 2 * tolerance)) << "in float";
  }
}

/// A scalar of the output that treats no two elements alike: symmetric ones hide mistakes.
double weighted(const std::vector<double>& y, const std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += weights[i] * y[i];
  return sum;
}

std::vector<double> irregular_weights(std::size_t count) {
  std::vector<double> weights(count);
  for (std::size_t i = 0; i < count; ++i) weights[i] = 0.7 + std::sin(1.3 * static_cast<double>(i) + 0.4);
  return weights;
}

/// Slopes on the left and on the right of x, each of third order, so that they agree where there is no kink.
struct Slopes {
  double left, right;
};
template <class F>
Slopes slopes_at(double& x, const F& f) {
  constexpr double kStep = 0x1p-15;
  const double middle = x;
  const auto value = [&](int steps) {
    x = middle + steps * kStep;
    const double result = f();
    x = middle;
    return result;
  };
  const auto one_sided = [&](int side) {
    return side * (-11 * value(0) + 18 * value(side) - 9 * value(2 * side) + 2 * value(3 * side)) / (6 * kStep);
  };
  return {one_sided(-1), one_sided(1)};
}

/// At a kink the gradient must lie between the slopes on its two sides; elsewhere it must equal both.
void check_gradient(const OpInfo& info, const Node& node) {
  const std::vector<double> weights = irregular_weights(node.elements());
  const std::vector<std::vector<double>> gradients = reference_gradient(info, node, weights);
  std::vector<std::vector<double>> inputs = inputs_as<double>(node);
  double scale = 1;
  for (const auto& gradient : gradients) scale = std::max(scale, largest(gradient));
  std::size_t kinks = 0;
  std::size_t elements = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = 0; j < inputs[i].size(); ++j, ++elements) {
      const Slopes slopes = slopes_at(inputs[i][j], [&] { return weighted(plain(info, node, inputs), weights); });
      // A sample at the edge of the domain, as log(0).
      if (!std::isfinite(slopes.left) || !std::isfinite(slopes.right)) continue;
      const double apart = std::abs(slopes.right - slopes.left);
      if (apart > 1e-3 * scale) ++kinks;
      EXPECT_NEAR(gradients[i][j], (slopes.left + slopes.right) / 2, 1e-6 * scale + 0.5 * apart)
          << "by element " << j << " of input " << i;
      if (::testing::Test::HasFailure()) return;
    }
  EXPECT_TRUE(node.sample->expected || kinks * 4 <= elements) << "too many random inputs are at kinks";
}

TEST_P(Conformance, PlainCodeHasTheGradientOfItsValues) {
  const Samples samples = info().samples();
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (std::uint64_t seed : kSeeds) {
      SCOPED_TRACE(sample_text(info(), samples, s, seed));
      Random random(seed, s);
      check_gradient(info(), make_node(info(), samples[s], random));
      if (HasFailure()) return;
      if (!info().is_ragged()) continue;
      for (std::size_t operands : {1, 2, 5}) check_gradient(info(), make_node(info(), samples[s], random, operands));
    }
}

INSTANTIATE_TEST_SUITE_P(Ops, Conformance, ::testing::ValuesIn(computing_ops()), name_of_op);

}  // namespace
}  // namespace espalier::conformance
