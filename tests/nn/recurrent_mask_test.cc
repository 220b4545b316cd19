/// Recurrent dropout against the equations of Gal and Ghahramani (2016), in float64: one mask for all steps.
#include "espalier/nn/recurrent_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_gru.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"
#include "tests/support/ways_agree.h"

namespace espalier::nn::recurrent_masks {
namespace {

using espalier::testing::asymmetric_sum;
using espalier::testing::expect_value;
using espalier::testing::randomise;
using espalier::testing::sigma;
using espalier::testing::Vec;
using espalier::testing::vector_input;
using espalier::testing::Weights;

constexpr std::int32_t kHidden = 6;
constexpr double kRate = 0.4;
const std::vector<Vec> kSequence{{0.5, -1, 0.25}, {-0.75, 0.5, 1}, {1, 0.125, -0.5}};

/// The mask itself: what it makes of ones.
Vec numbers_of(const RecurrentMask& mask, Graph& g) {
  const Tensor masked = mask(g.constant({kHidden}, 1)).value();
  Vec numbers;
  for (std::int64_t i = 0; i < masked.elements(); ++i) numbers.push_back(masked.at(i));
  return numbers;
}

Vec times(const Vec& a, const Vec& b) {
  Vec product;
  for (std::size_t i = 0; i < a.size(); ++i) product.push_back(a[i] * b[i]);
  return product;
}

TEST(RecurrentMask, IsZeroOrScaledUpAndNewForEachInstance) {
  Graph g({.seed = 3, .dtype = DType::kFloat64});
  std::vector<Vec> masks;
  int zeros = 0;
  for (int i = 0; i < 50; ++i) {
    g.begin_instance();
    masks.push_back(numbers_of(RecurrentMask(g, kHidden, kRate), g));
    for (const double number : masks.back()) {
      if (number == 0)
        ++zeros;
      else
        EXPECT_NEAR(number, 1 / (1 - kRate), 1e-12);
    }
  }
  EXPECT_GT(zeros, 50 * kHidden / 4);  // 0.4 of them are expected
  EXPECT_LT(zeros, 50 * kHidden * 11 / 20);
  EXPECT_GT(std::set<Vec>(masks.begin(), masks.end()).size(), 15U);  // of 64 that are possible
}

TEST(RecurrentMask, DoesNothingOutsideTrainingAndForRateZero) {
  for (const bool training : {false, true}) {
    Graph g({.training = training});
    const RecurrentMask mask(g, kHidden, training ? 0 : kRate);
    const Expr h = g.constant({kHidden}, 2);
    EXPECT_EQ(mask(h).node(), h.node());
  }
  Graph g;
  EXPECT_THAT(espalier::testing::refusal_of([&] { RecurrentMask(g, kHidden, 1); }), ::testing::HasSubstr("dropout: "));
  EXPECT_TRUE(RecurrentMask(g, kHidden, kRate)(TreeState{}).missing());
}

TEST(RecurrentMask, MasksTheStateOfAnLstmInItsProduct) {
  Model model;
  const LstmCell cell(model / "cell", 3, kHidden);
  randomise(model);
  const Weights w(model, "cell");
  Graph g({.seed = 5, .dtype = DType::kFloat64});
  g.begin_instance();
  const RecurrentMask mask(g, kHidden, kRate);
  const Vec numbers = numbers_of(mask, g);
  LstmState state = cell.initial(g);
  Vec h(kHidden);
  Vec c(kHidden);
  for (const Vec& x : kSequence) {
    state = cell(vector_input(g, x), mask(state));
    const Vec masked = times(h, numbers);
    for (std::size_t j = 0; j < kHidden; ++j) {
      const auto gate = [&](std::size_t k) {
        const std::size_t column = k * kHidden + j;
        return w.product(x, "W", column) + w.product(masked, "U", column) + w.at("b", column);
      };
      c[j] = sigma(gate(1)) * c[j] + sigma(gate(0)) * std::tanh(gate(3));
      h[j] = sigma(gate(2)) * std::tanh(c[j]);
    }
    expect_value(state.h, h);
    expect_value(state.c, c);
  }
}

TEST(RecurrentMask, MasksTheStateOfAGruInItsProductOnly) {
  Model model;
  const GruCell cell(model / "cell", 3, kHidden);
  randomise(model);
  const Weights w(model, "cell");
  Graph g({.seed = 5, .dtype = DType::kFloat64});
  g.begin_instance();
  const RecurrentMask mask(g, kHidden, kRate);
  const Vec numbers = numbers_of(mask, g);
  Expr state = cell.initial(g);
  Vec h(kHidden);
  for (const Vec& x : kSequence) {
    state = cell.step(vector_input(g, x), state, mask);
    const Vec masked = times(h, numbers);
    for (std::size_t j = 0; j < kHidden; ++j) {
      const auto from_x = [&](std::size_t k) {
        return w.product(x, "W", k * kHidden + j) + w.at("b", k * kHidden + j);
      };
      const auto from_h = [&](std::size_t k) {
        return w.product(masked, "U", k * kHidden + j) + w.at("b_h", k * kHidden + j);
      };
      const double r = sigma(from_x(0) + from_h(0));
      const double z = sigma(from_x(1) + from_h(1));
      h[j] = (1 - z) * std::tanh(from_x(2) + r * from_h(2)) + z * h[j];
    }
    expect_value(state, h);
  }
}

TEST(RecurrentMask, MasksTheStatesOfTreeCellsInTheirProducts) {
  Model model;
  const TreeGru gru(model / "gru", kHidden);
  const ChildSumTreeLstm sum_cell(model / "sum", 3, kHidden);
  const BinaryTreeLstm binary(model / "binary", 3, kHidden);
  randomise(model);
  Graph g({.seed = 5, .dtype = DType::kFloat64});
  g.begin_instance();
  const RecurrentMask mask(g, kHidden, kRate);
  const Vec numbers = numbers_of(mask, g);
  const Vec a{0.5, -1, 0.25, 1, -0.125, 2};
  const Vec b{-0.75, 0.5, 1, -1, 0.25, 0.5};
  const Weights w(model, "gru");
  const auto unit = [&](const Vec& h, const std::string& k) {
    const Vec masked = times(h, numbers);
    Vec reset(kHidden);
    for (std::size_t j = 0; j < kHidden; ++j)
      reset[j] = sigma(w.product(masked, "U_" + k, j) + w.at("b", j)) * masked[j];
    Vec out(kHidden);
    for (std::size_t j = 0; j < kHidden; ++j) {
      const double z = sigma(w.product(masked, "U_" + k, kHidden + j) + w.at("b", kHidden + j));
      out[j] = z * h[j] + (1 - z) * std::tanh(w.product(reset, "N_" + k, j) + w.at("b_n", j));
    }
    return out;
  };
  Vec expected = unit(a, "0");
  const Vec second = unit(b, "1");
  for (std::size_t j = 0; j < kHidden; ++j) expected[j] = (expected[j] + second[j]) / 2;
  expect_value(gru.step({vector_input(g, a), vector_input(g, b)}, mask), expected);
  // Of LSTMs, h is in products alone: masking it before the cell is the same.
  const TreeState one{vector_input(g, a), vector_input(g, b)};
  const TreeState masked{vector_input(g, times(a, numbers)), vector_input(g, b)};
  const auto expect_same = [](const TreeState& given, const TreeState& wanted) {
    EXPECT_EQ(given.h.value(), wanted.h.value());
    EXPECT_EQ(given.c.value(), wanted.c.value());
  };
  expect_same(binary(mask(one), TreeState{}), binary(masked, TreeState{}));
  expect_same(sum_cell(mask({one, TreeState{}, one})), sum_cell({masked, masked}));
}

TEST(RecurrentMask, AgreesWithTheTwinByEveryStrategy) {
  Model model;
  const LstmCell lstm(model / "lstm", 3, kHidden);
  const GruCell gru(model / "gru", 3, kHidden);
  const auto x = [](Graph& g, std::int32_t t) {
    return g.input({3}, std::vector<float>{0.5F, static_cast<float>(t % 5) / 4, -1});
  };
  espalier::testing::expect_ways_agree(
      model,
      [&](Graph& g, std::int32_t i) {
        const RecurrentMask mask(g, kHidden, kRate);
        LstmState state = lstm.initial(g);
        for (std::int32_t t = 0; t <= i; ++t) state = lstm(x(g, t), mask(state));
        return asymmetric_sum(state.h);
      },
      [&](Graph& g, std::int32_t i) {
        const RecurrentMask mask(g, kHidden, kRate);
        Expr h = gru.initial(g);
        for (std::int32_t t = 0; t <= i; ++t) h = gru.step(x(g, t), h, mask);
        return asymmetric_sum(h);
      });
}

}  // namespace
}  // namespace espalier::nn::recurrent_masks
