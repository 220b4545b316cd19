#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/add.h"
#include "tests/support/gradient_check.h"
#include "tests/support/here.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"

namespace espalier::nn {
namespace {

using espalier::testing::asymmetric_sum;
using espalier::testing::check_gradients;
using espalier::testing::expect_value;
using espalier::testing::parameters_of;
using espalier::testing::randomise;
using espalier::testing::refusal_of;
using espalier::testing::sigma;
using espalier::testing::Vec;
using espalier::testing::vector_input;
using espalier::testing::Weights;
using ::testing::HasSubstr;
using testing::here;
using ::testing::StartsWith;

const std::vector<Vec> kSequence{{0.3, -0.6, 0.9}, {-1.1, 0.2, 0.5}, {0.7, 0.4, -0.8}};

std::vector<Expr> inputs(Graph& g, DType dtype = DType::kFloat64) {
  std::vector<Expr> list;
  for (const Vec& x : kSequence) list.push_back(vector_input(g, x, dtype));
  return list;
}

struct ScalarLstm {
  Vec h, c;

  static ScalarLstm initial(std::size_t n) { return {Vec(n), Vec(n)}; }
  ScalarLstm next(const Weights& w, const Vec& x) const {
    const std::size_t n = h.size();
    ScalarLstm out = initial(n);
    const auto gate = [&](std::size_t number, std::size_t j) {
      const std::size_t column = number * n + j;
      return w.product(x, "W", column) + w.product(h, "U", column) + w.at("b", column);
    };
    for (std::size_t j = 0; j < n; ++j) {
      out.c[j] = sigma(gate(1, j)) * c[j] + sigma(gate(0, j)) * std::tanh(gate(3, j));
      out.h[j] = sigma(gate(2, j)) * std::tanh(out.c[j]);
    }
    return out;
  }
};

TEST(LstmCell, FollowsItsEquations) {
  Model model;
  const LstmCell cell(model / "cell", 3, 4);
  EXPECT_EQ(parameters_of(model), "cell.W [3, 16], cell.U [4, 16], cell.b [16]");
  EXPECT_EQ(model.count(), 48 + 64 + 16);
  EXPECT_EQ(cell.input(), 3);
  EXPECT_EQ(cell.hidden(), 4);
  randomise(model);
  Graph g;
  LstmState state = cell.initial(g);
  ScalarLstm expected = ScalarLstm::initial(4);
  for (const Vec& x : kSequence) {
    state = cell(vector_input(g, x), state);
    expected = expected.next(Weights(model, "cell"), x);
    expect_value(state.h, expected.h);
    expect_value(state.c, expected.c);
  }
}

TEST(LstmCell, WorksInFloat32) {
  Model model;
  const LstmCell cell(model / "cell", 3, 4);
  Graph g;
  LstmState state = cell.initial(g);
  ScalarLstm expected = ScalarLstm::initial(4);
  for (const Vec& x : kSequence) {
    state = cell(vector_input(g, x, DType::kFloat32), state);
    expected = expected.next(Weights(model, "cell"), x);
  }
  EXPECT_EQ(state.h.dtype(), DType::kFloat32);
  expect_value(state.h, expected.h, 1e-6);
  expect_value(state.c, expected.c, 1e-6);
}

TEST(LstmCell, HasGradientsThroughTime) {
  Model model;
  const LstmCell cell(model / "cell", 3, 2);
  randomise(model);
  check_gradients(model, [&](Graph& g) {
    LstmState state = cell.initial(g);
    for (const Expr& x : inputs(g)) state = cell(x, state);
    return asymmetric_sum(state.h) + asymmetric_sum(state.c);
  });
}

TEST(LstmCell, RemembersAtFirst) {
  Model model;
  const LstmCell cell(model / "cell", 3, 2);
  const LstmCell other(model / "other", 3, 2, {.forget_bias = 0.5});
  const auto bias = [&](const char* name) {
    std::string text;
    for (const float b : model.parameter(name).value().as<float>()) text += std::to_string(b).substr(0, 3) + " ";
    return text;
  };
  EXPECT_EQ(bias("cell.b"), "0.0 0.0 1.0 1.0 0.0 0.0 0.0 0.0 ");
  EXPECT_EQ(bias("other.b"), "0.0 0.0 0.5 0.5 0.0 0.0 0.0 0.0 ");
}

TEST(LstmCell, ScalesTheWeightsOfEachGateByItself) {
  Model model;
  const LstmCell cell(model / "cell", 60, 40);
  float largest = 0;
  for (const float w : model.parameter("cell.W").value().as<float>()) largest = std::max(largest, std::abs(w));
  const double limit = std::sqrt(6.0 / (60 + 40));
  EXPECT_LE(largest, limit);
  EXPECT_GT(largest, 0.98 * limit);
}

TEST(LstmCell, NamesTheCallersLineForAnInputOrStateOfAnotherSize) {
  Model model;
  const LstmCell cell(model / "cell", 3, 4);
  const LstmCell larger(model / "larger", 3, 5);
  Graph g;
  const Expr x = g.constant({3}, 1);
  const Expr long_x = g.constant({6}, 1);
  const LstmState state = cell.initial(g);
  const int line = __LINE__ + 1;
  const std::string wrong_x = refusal_of([&] { cell(long_x, state); });
  EXPECT_THAT(wrong_x, StartsWith("affine: size of x (6) and rows of W (3) differ"));
  EXPECT_THAT(wrong_x, HasSubstr("at " + here(line)));
  const std::string wrong_state = refusal_of([&] { larger(x, state); });
  EXPECT_THAT(wrong_state, StartsWith("linear: size of x (4) and rows of W (5) differ"));
  EXPECT_THAT(wrong_state, HasSubstr("at " + here(line + 3)));
}

TEST(LstmCell, RefusesSizesBelowOne) {
  Model model;
  EXPECT_EQ(refusal_of([&] { LstmCell(model / "cell", 3, 0); }),
            "lstm \"cell\": the hidden size must be at least 1, and 0 was given");
}

TEST(BiLstm, JoinsACellForEachDirection) {
  Model model;
  const BiLstm lstm(model / "bi", 3, 2);
  EXPECT_EQ(parameters_of(model),
            "bi.forward.W [3, 8], bi.forward.U [2, 8], bi.forward.b [8], "
            "bi.backward.W [3, 8], bi.backward.U [2, 8], bi.backward.b [8]");
  randomise(model);
  Graph g;
  const std::vector<Expr> y = lstm(inputs(g));
  ASSERT_EQ(y.size(), 3U);
  std::vector<ScalarLstm> left{ScalarLstm::initial(2)};
  std::vector<ScalarLstm> right{ScalarLstm::initial(2)};
  for (std::size_t t = 0; t < 3; ++t) {
    left.push_back(left.back().next(Weights(model, "bi.forward"), kSequence[t]));
    right.push_back(right.back().next(Weights(model, "bi.backward"), kSequence[2 - t]));
  }
  for (std::size_t t = 0; t < 3; ++t)
    expect_value(y[t], {left[t + 1].h[0], left[t + 1].h[1], right[3 - t].h[0], right[3 - t].h[1]});
  check_gradients(model, [&](Graph& graph) {
    const std::vector<Expr> out = lstm(inputs(graph));
    return asymmetric_sum(out[0]) + asymmetric_sum(out[1]);
  });
}

TEST(BiLstm, RefusesElementsOfManyRows) {
  Model model;
  const BiLstm lstm(model / "bi", 3, 2);
  Graph g;
  const Expr two = g.rows({3}, std::vector<float>(6, 0.5F));
  EXPECT_THROW(lstm({two}), UsageError);
  EXPECT_THROW(lstm({g.input(Tensor({3})), two}), UsageError);
}

TEST(BiLstm, GivesNothingForNothing) {
  Model model;
  const BiLstm lstm(model / "bi", 3, 2);
  EXPECT_TRUE(lstm(std::vector<Expr>{}).empty());
}

TEST(BiLstm, NamesTheCallersLine) {
  Model model;
  const BiLstm lstm(model / "bi", 3, 2);
  Graph g;
  const Expr x = g.constant({4}, 1);
  const int line = __LINE__ + 1;
  EXPECT_THAT(refusal_of([&] { lstm({x}); }), HasSubstr("at " + here(line)));
}

Vec scalar_gru(const Weights& w, const Vec& x, const Vec& h) {
  const std::size_t n = h.size();
  const auto from_x = [&](std::size_t column) { return w.product(x, "W", column) + w.at("b", column); };
  const auto from_h = [&](std::size_t column) { return w.product(h, "U", column) + w.at("b_h", column); };
  Vec out(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double r = sigma(from_x(j) + from_h(j));
    const double z = sigma(from_x(n + j) + from_h(n + j));
    const double candidate = std::tanh(from_x(2 * n + j) + r * from_h(2 * n + j));
    out[j] = (1 - z) * candidate + z * h[j];
  }
  return out;
}

TEST(GruCell, FollowsItsEquations) {
  Model model;
  const GruCell cell(model / "cell", 3, 4);
  EXPECT_EQ(parameters_of(model), "cell.W [3, 12], cell.b [12], cell.U [4, 12], cell.b_h [12]");
  EXPECT_EQ(model.count(), 36 + 12 + 48 + 12);
  randomise(model);
  Graph g;
  Expr h = cell.initial(g);
  Vec expected(4);
  for (const Vec& x : kSequence) {
    h = cell(vector_input(g, x), h);
    expected = scalar_gru(Weights(model, "cell"), x, expected);
    expect_value(h, expected);
  }
}

TEST(GruCell, HasGradientsThroughTime) {
  Model model;
  const GruCell cell(model / "cell", 3, 2);
  randomise(model);
  check_gradients(model, [&](Graph& g) {
    Expr h = cell.initial(g);
    for (const Expr& x : inputs(g)) h = cell(x, h);
    return asymmetric_sum(h);
  });
}

TEST(GruCell, NamesTheCallersLineForAStateOfAnotherSize) {
  Model model;
  const GruCell cell(model / "cell", 3, 4);
  Graph g;
  const Expr x = g.constant({3}, 1);
  const int line = __LINE__ + 1;
  const std::string text = refusal_of([&] { cell(x, x); });
  EXPECT_THAT(text, StartsWith("affine: size of x (3) and rows of W (4) differ"));
  EXPECT_THAT(text, HasSubstr("at " + here(line)));
}

}  // namespace
}  // namespace espalier::nn
