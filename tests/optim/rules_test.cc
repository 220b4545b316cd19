/// Every rule against the same formula written once more, one number at a time, in double.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "espalier/optim/adadelta.h"
#include "espalier/optim/adagrad.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/adamw.h"
#include "espalier/optim/ftrl.h"
#include "espalier/optim/rmsprop.h"
#include "espalier/optim/sgd.h"

namespace espalier::optim {
namespace {

/// One number of a parameter and what a rule keeps for it.
struct Number {
  double value = 0;
  double a = 0;
  double b = 0;
};

struct Rule {
  std::string name;
  std::function<std::unique_ptr<Optimizer>(Model&)> make;
  std::function<void(Number&, double gradient, int step)> update;
};

template <class Type, class Options>
std::function<std::unique_ptr<Optimizer>(Model&)> maker(Options options) {
  return [options](Model& model) { return std::make_unique<Type>(model, options); };
}

void adam_by_hand(Number& x, double g, int t, double rate) {
  x.a = 0.8 * x.a + 0.2 * g;
  x.b = 0.9 * x.b + 0.1 * g * g;
  const double mean = x.a / (1 - std::pow(0.8, t));
  const double square = x.b / (1 - std::pow(0.9, t));
  x.value -= rate * mean / (std::sqrt(square) + 1e-3);
}

std::vector<Rule> rules() {
  return {
      {"Sgd", maker<Sgd>(SgdOptions{.learning_rate = 0.1}), [](Number& x, double g, int) { x.value -= 0.1 * g; }},
      {"SgdWithDecay", maker<Sgd>(SgdOptions{.learning_rate = 0.1, .weight_decay = 0.2}),
       [](Number& x, double g, int) { x.value -= 0.1 * (g + 0.2 * x.value); }},
      {"SgdWithMomentum", maker<Sgd>(SgdOptions{.learning_rate = 0.1, .momentum = 0.7, .weight_decay = 0.2}),
       [](Number& x, double g, int) {
         x.a = 0.7 * x.a + g + 0.2 * x.value;
         x.value -= 0.1 * x.a;
       }},
      {"SgdNesterov",
       maker<Sgd>(SgdOptions{.learning_rate = 0.1, .momentum = 0.7, .nesterov = true, .weight_decay = 0.2}),
       [](Number& x, double g, int) {
         const double all = g + 0.2 * x.value;
         x.a = 0.7 * x.a + all;
         x.value -= 0.1 * (all + 0.7 * x.a);
       }},
      {"Adagrad", maker<Adagrad>(AdagradOptions{.learning_rate = 0.1, .epsilon = 1e-3, .weight_decay = 0.2}),
       [](Number& x, double g, int) {
         const double all = g + 0.2 * x.value;
         x.a += all * all;
         x.value -= 0.1 * all / (std::sqrt(x.a) + 1e-3);
       }},
      {"RmsProp",
       maker<RmsProp>(RmsPropOptions{.learning_rate = 0.1, .decay = 0.8, .epsilon = 1e-3, .weight_decay = 0.2}),
       [](Number& x, double g, int) {
         const double all = g + 0.2 * x.value;
         x.a = 0.8 * x.a + 0.2 * all * all;
         x.value -= 0.1 * all / (std::sqrt(x.a) + 1e-3);
       }},
      {"RmsPropWithMomentum",
       maker<RmsProp>(RmsPropOptions{.learning_rate = 0.1, .decay = 0.8, .momentum = 0.6, .epsilon = 1e-3}),
       [](Number& x, double g, int) {
         x.a = 0.8 * x.a + 0.2 * g * g;
         x.b = 0.6 * x.b + g / (std::sqrt(x.a) + 1e-3);
         x.value -= 0.1 * x.b;
       }},
      {"Adadelta",
       maker<Adadelta>(AdadeltaOptions{.learning_rate = 0.5, .decay = 0.8, .epsilon = 1e-2, .weight_decay = 0.2}),
       [](Number& x, double g, int) {
         const double all = g + 0.2 * x.value;
         x.a = 0.8 * x.a + 0.2 * all * all;
         const double move = std::sqrt(x.b + 1e-2) / std::sqrt(x.a + 1e-2) * all;
         x.b = 0.8 * x.b + 0.2 * move * move;
         x.value -= 0.5 * move;
       }},
      {"Adam",
       maker<Adam>(AdamOptions{.learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.2}),
       [](Number& x, double g, int t) { adam_by_hand(x, g + 0.2 * x.value, t, 0.1); }},
      {"Ftrl", maker<Ftrl>(FtrlOptions{.learning_rate = 0.1, .beta = 0.5, .l1 = 0.3, .l2 = 0.2}),
       [](Number& x, double g, int) {
         const double sign = x.value < 0 ? -1 : 1;
         if (x.a == 0 && x.b == 0 && x.value != 0) x.a = -x.value * (0.5 / 0.1 + 0.2) - sign * 0.3;
         const double sigma = (std::sqrt(x.b + g * g) - std::sqrt(x.b)) / 0.1;
         x.a += g - sigma * x.value;
         x.b += g * g;
         const double beyond = std::abs(x.a) - 0.3;
         x.value = beyond <= 0 ? 0 : (x.a < 0 ? beyond : -beyond) / ((0.5 + std::sqrt(x.b)) / 0.1 + 0.2);
       }},
      {"AdamW",
       maker<AdamW>(
           AdamWOptions{.learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.2}),
       [](Number& x, double g, int t) {
         x.value -= 0.1 * 0.2 * x.value;
         adam_by_hand(x, g, t, 0.1);
       }},
  };
}

constexpr std::int64_t kRows = 6;
constexpr std::int64_t kWidth = 11;  // not a multiple of any vector's length

double gradient_at(int step, std::int64_t i) { return std::sin(1.7 * static_cast<double>(i) + 0.9 * step) + 0.1; }
double first_value_at(std::int64_t i) { return std::cos(0.3 * static_cast<double>(i)); }

Parameter& add_table(Model& model) {
  Tensor value({kRows, kWidth}, DType::kFloat64);
  for (std::int64_t i = 0; i < value.elements(); ++i) value.set(i, first_value_at(i));
  return model.add("table", {kRows, kWidth}, init::from_tensor(std::move(value)));
}

/// Gives the gradient of some rows, as rows or as a whole tensor whose other rows are zero.
void give_gradient(Gradients& gradients, const Parameter& table, int step, const std::vector<std::int32_t>& rows,
                   bool sparse) {
  Tensor whole(table.shape(), table.value().dtype());
  for (const std::int32_t row : rows)
    for (std::int64_t i = row * kWidth; i < (row + 1) * kWidth; ++i) whole.set(i, gradient_at(step, i));
  if (sparse) {
    const std::size_t bytes = static_cast<std::size_t>(kWidth) * size_of(whole.dtype());
    for (const std::int32_t row : rows)
      gradients.add_row(table, row, whole.data() + static_cast<std::size_t>(row) * bytes);
    gradients.join_rows();
  } else {
    const Gradients::Dense to = gradients.dense(table);
    std::copy(whole.data(), whole.data() + whole.bytes(), to.data);
  }
}

class Rules : public ::testing::TestWithParam<Rule> {};

TEST_P(Rules, FollowTheFormula) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    Model model;
    model.to(dtype);
    Parameter& table = add_table(model);
    const std::unique_ptr<Optimizer> optimizer = GetParam().make(model);
    std::vector<Number> expected;
    for (std::int64_t i = 0; i < kRows * kWidth; ++i) expected.push_back({.value = table.value().at(i)});
    for (int step = 1; step <= 5; ++step) {
      give_gradient(model.gradients(), table, step, {0, 1, 2, 3, 4, 5}, false);
      const std::uint64_t version = table.version();
      optimizer->step();
      EXPECT_NE(table.version(), version);
      EXPECT_TRUE(model.gradients().empty());
      for (std::int64_t i = 0; i < kRows * kWidth; ++i) {
        Number& number = expected[static_cast<std::size_t>(i)];
        GetParam().update(number, gradient_at(step, i), step);
        ASSERT_NEAR(table.value().at(i), number.value, dtype == DType::kFloat64 ? 1e-13 : 4e-6)
            << name_of(dtype) << " step " << step << " element " << i;
      }
    }
    EXPECT_EQ(optimizer->steps(), 5);
  }
}

TEST_P(Rules, TouchOnlyTheRowsThatWereUsed) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    Model model;
    model.to(dtype);
    Parameter& table = add_table(model);
    const std::unique_ptr<Optimizer> optimizer = GetParam().make(model);
    std::vector<Number> expected;
    for (std::int64_t i = 0; i < kRows * kWidth; ++i) expected.push_back({.value = table.value().at(i)});
    // Row 0 is never used; 5 for the first time in step 3.
    const std::vector<std::vector<std::int32_t>> used = {{1, 3}, {1, 2, 4}, {3, 5}, {1, 5}};
    for (int step = 1; step <= 4; ++step) {
      const Tensor before = table.value();
      const auto& rows = used[static_cast<std::size_t>(step - 1)];
      give_gradient(model.gradients(), table, step, rows, true);
      optimizer->step();
      for (std::int32_t row = 0; row < kRows; ++row) {
        const bool is_used = std::find(rows.begin(), rows.end(), row) != rows.end();
        for (std::int64_t i = row * kWidth; i < (row + 1) * kWidth; ++i) {
          if (is_used) {
            GetParam().update(expected[static_cast<std::size_t>(i)], gradient_at(step, i), step);
            ASSERT_NEAR(table.value().at(i), expected[static_cast<std::size_t>(i)].value,
                        dtype == DType::kFloat64 ? 1e-13 : 4e-6)
                << name_of(dtype) << " step " << step << " element " << i;
          } else {
            ASSERT_EQ(table.value().at(i), before.at(i)) << "step " << step << " element " << i;
          }
        }
      }
    }
  }
}

TEST_P(Rules, GiveRowsTheBitsOfAWholeGradient) {
  Model by_rows;
  Model whole;
  Parameter& row_table = add_table(by_rows);
  Parameter& whole_table = add_table(whole);
  const std::unique_ptr<Optimizer> row_optimizer = GetParam().make(by_rows);
  const std::unique_ptr<Optimizer> whole_optimizer = GetParam().make(whole);
  for (int step = 1; step <= 4; ++step) {
    give_gradient(by_rows.gradients(), row_table, step, {1, 4}, true);
    give_gradient(whole.gradients(), whole_table, step, {1, 4}, false);
    row_optimizer->step();
    whole_optimizer->step();
    for (const std::int64_t row : {1, 4})
      for (std::int64_t i = row * kWidth; i < (row + 1) * kWidth; ++i)
        ASSERT_EQ(row_table.value().at(i), whole_table.value().at(i)) << "step " << step << " element " << i;
  }
}

TEST_P(Rules, GoOnWithTheSameBitsFromASavedState) {
  Model model;
  Parameter& table = add_table(model);
  const std::unique_ptr<Optimizer> optimizer = GetParam().make(model);
  for (int step = 1; step <= 3; ++step) {
    give_gradient(model.gradients(), table, step, {1, 4}, true);
    optimizer->step();
  }
  optimizer->set_learning_rate(0.03);

  Model resumed;
  Parameter& resumed_table = add_table(resumed);
  resumed_table.replace_value(table.value());
  const std::unique_ptr<Optimizer> resumed_optimizer = GetParam().make(resumed);
  resumed_optimizer->set_state(optimizer->state());
  EXPECT_EQ(resumed_optimizer->steps(), 3);
  EXPECT_EQ(resumed_optimizer->learning_rate(), 0.03);
  EXPECT_EQ(resumed_optimizer->state(), optimizer->state());
  for (int step = 4; step <= 6; ++step) {
    give_gradient(model.gradients(), table, step, {0, 4}, true);
    give_gradient(resumed.gradients(), resumed_table, step, {0, 4}, true);
    optimizer->step();
    resumed_optimizer->step();
    ASSERT_EQ(resumed_table.value(), table.value()) << "step " << step;
  }
}

TEST_P(Rules, MinimiseAParabola) {
  Model model;
  model.to(DType::kFloat64);
  Parameter& x = model.add("x", {}, init::constant(1));
  const std::unique_ptr<Optimizer> optimizer = GetParam().make(model);
  for (int step = 0; step < 400; ++step) {
    *reinterpret_cast<double*>(model.gradients().dense(x).data) = 2 * x.value().item();
    optimizer->step();
  }
  EXPECT_LT(std::abs(x.value().item()), 0.1);
}

INSTANTIATE_TEST_SUITE_P(Optim, Rules, ::testing::ValuesIn(rules()), [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace espalier::optim
