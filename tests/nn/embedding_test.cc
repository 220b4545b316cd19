/// Options of the embedding: pretrained, frozen, any number modulo the rows; and what an update touches.
#include "espalier/nn/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "espalier/ops/all.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/sgd.h"
#include "tests/support/refusal.h"
#include "tests/support/scalar_math.h"
#include "tests/support/ways_agree.h"

namespace espalier::nn {
namespace {

using espalier::testing::expect_ways_agree;
using espalier::testing::refusal_of;

TEST(EmbeddingOptions, PretrainedRowsComeFirstAndTheRestIsDrawn) {
  Model model;
  const Embedding words(model / "words", 4, 2, {.init = init::constant(7), .pretrained = Tensor({2, 2}, {1, 2, 3, 4})});
  EXPECT_EQ(words.table().value(), Tensor({4, 2}, {1, 2, 3, 4, 7, 7, 7, 7}));
  EXPECT_EQ(refusal_of([&] {
              Embedding(model / "more", 1, 2, {.pretrained = Tensor({2, 2})});
            }),
            "init::from_rows: the parameter has shape [1, 2], and the rows [2, 2]");
  EXPECT_EQ(refusal_of([&] {
              Embedding(model / "wide", 4, 2, {.pretrained = Tensor({2, 3})});
            }),
            "init::from_rows: the parameter has shape [4, 2], and the rows [2, 3]");
}

TEST(EmbeddingOptions, AnyNumberStandsForARowModuloTheirNumber) {
  Model model;
  const Embedding words(model / "words", 5, 2, {.modulo = true});
  Graph g;
  const auto row_of = [&](std::int64_t id) { return words(g, id).value(); };
  const auto row = [&](std::int32_t i) {
    const Tensor& table = words.table().value();
    return Tensor({2}, {static_cast<float>(table.at(2 * i)), static_cast<float>(table.at(2 * i + 1))});
  };
  EXPECT_EQ(row_of(3), row(3));
  EXPECT_EQ(row_of(5), row(0));
  EXPECT_EQ(row_of(-7), row(2));
  EXPECT_EQ(row_of(std::numeric_limits<std::int64_t>::max()), row(2));  // 2^63 - 1 = 5 * 1844674407370955161 + 2
  EXPECT_EQ(row_of(std::numeric_limits<std::int64_t>::min()), row(3));
}

TEST(EmbeddingOptions, NumbersThatFitNoRowAreRefusedWithoutModulo) {
  Model model;
  const Embedding words(model / "words", 5, 2);
  Graph g;
  const int line = __LINE__ + 1;
  EXPECT_EQ(refusal_of([&] { words(g, std::int64_t{1} << 40); }),
            "lookup: row 1099511627776 is outside the table (rows 0 to 4)\n  table: parameter \"words.table\"\n"
            "  at embedding_test.cc:" +
                std::to_string(line));
  EXPECT_THAT(refusal_of([&] { words(g, -1); }), ::testing::StartsWith("lookup: row -1 is outside the table"));
}

/// Trains for a step on rows 1 and 3, and twice on row 1.
Tensor trained(const EmbeddingOptions& options, bool adam) {
  Model model;
  const Embedding words(model / "words", 5, 2, options);
  const Parameter& scale = (model / "scale").add("s", {2}, init::constant(1));
  std::unique_ptr<optim::Optimizer> optimizer;
  if (adam)
    optimizer = std::make_unique<optim::Adam>(model, optim::AdamOptions{.learning_rate = 0.1});
  else
    optimizer = std::make_unique<optim::Sgd>(model, optim::SgdOptions{.learning_rate = 0.1});
  Graph g;
  const Expr loss =
      sum({sum_elements(words(g, 1) * scale), sum_elements(words(g, 3) * scale), sum_elements(words(g, 1))});
  loss.backward();
  optimizer->step();
  return words.table().value();
}

TEST(EmbeddingOptions, AnUpdateTouchesOnlyTheRowsThatWereUsed) {
  const Tensor ones = Tensor::filled({5, 2}, 1);
  EXPECT_EQ(trained({.pretrained = ones}, false), Tensor({5, 2}, {1, 1, 0.8F, 0.8F, 1, 1, 0.9F, 0.9F, 1, 1}));
  const Tensor by_adam = trained({.pretrained = ones}, true);
  for (std::int64_t i = 0; i < by_adam.elements(); ++i)
    EXPECT_EQ(by_adam.at(i) != 1, i / 2 == 1 || i / 2 == 3) << "element " << i;
}

TEST(EmbeddingOptions, AFrozenTableStaysAsItIs) {
  const Tensor ones = Tensor::filled({5, 2}, 1);
  EXPECT_EQ(trained({.pretrained = ones, .frozen = true}, false), ones);
  EXPECT_EQ(trained({.pretrained = ones, .frozen = true}, true), ones);
}

TEST(EmbeddingOptions, AgreesWithTheTwinAloneAndAmongUnlikeInstances) {
  Model model;
  const Embedding hashed(model / "hashed", 7, 3, {.modulo = true});
  const Embedding fixed(model / "fixed", 7, 3, {.frozen = true});
  expect_ways_agree(
      model,
      [&](Graph& graph, std::int32_t i) {
        return sum_elements(tanh(hashed(graph, 1000003LL * i) * fixed(graph, i % 7)));
      },
      [&](Graph& graph, std::int32_t i) { return sum_elements(sigmoid(hashed(graph, -i))); });
}

}  // namespace
}  // namespace espalier::nn
