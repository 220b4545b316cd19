/// Nodes of many rows: whatever is done to them is done to each row, by every way of computing it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "tests/support/budget.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refusal.h"

namespace espalier::many_rows {
namespace {

using ::testing::HasSubstr;

struct Sentence {
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> labels;
  std::vector<float> features;  // three a word
};

std::vector<Sentence> random_sentences(unsigned seed, int count) {
  std::mt19937 random(seed);
  const auto draw = [&](int below) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(below)); };
  std::vector<Sentence> sentences(static_cast<std::size_t>(count));
  for (Sentence& sentence : sentences)
    for (std::int32_t n = 1 + draw(7); n > 0; --n) {
      sentence.words.push_back(draw(11));
      sentence.labels.push_back(draw(4));
      for (int i = 0; i < 3; ++i) sentence.features.push_back(static_cast<float>(draw(100)) / 50 - 1);
    }
  return sentences;
}

/// A network with ops of all kinds: products, maps, moves, reductions, cells, losses with a label a row.
struct Net {
  Model model{7};
  nn::Embedding words{model / "words", 11, 5};
  nn::Linear middle{model / "middle", 8, 6};
  nn::Linear out{model / "out", 6, 4};
  Cell<Expr(Expr)> head{"head", [this](Expr x) { return out(tanh(x)); }};
  Cell<std::pair<Expr, Expr>(Expr, Expr)> two{"two", [this](Expr x, Expr y) {
                                                const Expr m = middle(concat({x, y}, 0));
                                                return std::pair(sigmoid(m), m * m);
                                              }};

  Expr scores(const Expr& word, const Expr& features) const {
    const auto [a, b] = two(word, features);
    const Expr part = slice(a, 0, 3);
    return head(concat({part, slice(b, 3, 6)}, 0) + a * b);
  }
  Expr many(Graph& graph, const Sentence& s, std::vector<Expr>& inputs) const {
    const Expr features = graph.rows({3}, s.features);
    inputs.push_back(features);
    return cross_entropy_rows(scores(words.rows(graph, s.words), features), s.labels);
  }
  std::vector<Expr> single(Graph& graph, const Sentence& s) const {
    std::vector<Expr> losses;
    for (std::size_t t = 0; t < s.words.size(); ++t)
      losses.push_back(cross_entropy(
          scores(words(graph, s.words[t]), graph.input({3}, std::span(s.features).subspan(3 * t, 3))), s.labels[t]));
    return losses;
  }
};

TEST(ManyRows, AgreeWithTheTwin) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Net net;
    const std::vector<Sentence> sentences = random_sentences(seed, 6);
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
      std::vector<Expr> losses;
      for (const Sentence& sentence : sentences) {
        graph.begin_instance();
        losses.push_back(net.many(graph, sentence, inputs));
      }
      return sum(losses) + mean(losses);
    });
  }
}

TEST(ManyRows, MayBeGivenOneByOne) {
  const std::vector<std::vector<float>> apart{{1, 2}, {3, 4}, {5, 6}};
  const std::vector<const float*> rows{apart[2].data(), apart[0].data(), apart[2].data()};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    Graph graph({.dtype = dtype});
    const Expr x = graph.rows({2}, rows);
    EXPECT_EQ(x.row_count(), 3);
    const Tensor given = scale(x, 1).value();
    EXPECT_EQ(given.shape(), Shape({3, 2}));
    const std::vector<double> expected{5, 6, 1, 2, 5, 6};
    for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(given.at(i), expected[static_cast<std::size_t>(i)]);
  }
  Graph graph;
  EXPECT_THAT(testing::refusal_of([&] { graph.rows({2}, std::vector<const float*>()); }),
              HasSubstr("rows: 0 rows given of shape [2], each of which holds 2"));
  EXPECT_THAT(testing::refusal_of([&] { graph.rows({0}, rows); }),
              HasSubstr("rows: 3 rows given of shape [0], each of which holds 0"));
}

TEST(ManyRows, AgreeWithOneNodeARow) {
  const Net net;
  const std::vector<Sentence> sentences = random_sentences(3, 9);
  const auto loss_of = [&](bool many) {
    return [&, many](Graph& graph, std::vector<Expr>&) {
      std::vector<Expr> losses;
      std::vector<Expr> inputs;
      for (const Sentence& sentence : sentences) {
        graph.begin_instance();
        if (many)
          losses.push_back(net.many(graph, sentence, inputs));
        else
          for (const Expr& loss : net.single(graph, sentence)) losses.push_back(loss);
      }
      return mean(losses);
    };
  };
  testing::expect_near(testing::numbers_of(net.model, {}, loss_of(true)),
                       testing::numbers_of(net.model, {}, loss_of(false)), "many rows");
}

TEST(ManyRows, HaveTheirDerivativesInFloat64) {
  Net net;
  testing::randomise(net.model);
  const std::vector<Sentence> sentences = random_sentences(4, 2);
  testing::check_gradients(net.model, [&](Graph& graph) {
    std::vector<Expr> losses;
    std::vector<Expr> inputs;
    for (const Sentence& sentence : sentences) {
      losses.push_back(net.many(graph, sentence, inputs));
      losses.push_back(sum(rows({inputs.back(), row(inputs.back(), 0)}), 0));
    }
    return sum(losses);
  });
}

TEST(ManyRows, AreOneStepAndLieSideBySide) {
  const Net net;
  Graph graph;
  std::vector<Expr> losses;
  std::vector<Expr> inputs;
  for (const Sentence& sentence : random_sentences(5, 30)) {
    graph.begin_instance();
    losses.push_back(net.many(graph, sentence, inputs));
  }
  sum(losses).backward();
  // lookup, two, two slices, mul, concat, add, head, cross_entropy, sum
  EXPECT_EQ(graph.statistics().steps, 10);
  EXPECT_EQ(graph.statistics().bytes_copied, 0);
}

TEST(ManyRows, AreTakenApartAndPutTogether) {
  const Net net;
  const std::vector<Sentence> sentences = random_sentences(11, 5);
  testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> losses;
    for (const Sentence& sentence : sentences) {
      graph.begin_instance();
      const Expr words = net.words.rows(graph, sentence.words);
      inputs.push_back(graph.rows({5}, std::vector<float>(10, 0.5F)));
      std::vector<Expr> turned;
      for (std::int32_t r = words.row_count(); r-- > 0;) turned.push_back(tanh(row(words, r)));
      turned.push_back(row(words, 0));  // once more
      turned.push_back(inputs.back());  // two rows
      const Expr together = rows(turned);
      EXPECT_EQ(together.row_count(), words.row_count() + 3);
      losses.push_back(sum(together * together, 0));
      losses.push_back(sum(row(together, 1), 0));
    }
    return sum(losses);
  });
}

/// A use of row() costs the same however many rows there are: with so many uses, anything else would never end.
TEST(ManyRows, AreTakenOneByOneHoweverManyThereAre) {
  constexpr std::int32_t kRows = 100'000;
  Graph graph;
  std::vector<float> numbers(2 * kRows);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 5);
  const Expr x = graph.rows({2}, numbers);
  std::vector<Expr> taken;
  for (std::int32_t r = 1; r < kRows; ++r) taken.push_back(row(x, r));
  taken.push_back(row(x, 7));
  const Expr together = rows(taken);
  const Expr loss = sum(sum({together * together}), 0);
  loss.backward({.wanted = {x}});
  const Tensor grad = x.grad();
  for (std::int64_t i = 0; i < grad.elements(); ++i) {
    const float uses = i / 2 == 0 ? 0 : i / 2 == 7 ? 2 : 1;
    ASSERT_EQ(grad.at(i), 2 * uses * numbers[static_cast<std::size_t>(i)]) << i;
  }
}

TEST(ManyRows, GiveOneTensor) {
  Graph graph;
  const Expr x = graph.rows({2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(x.row_count(), 3);
  EXPECT_TRUE(x.has_many_rows());
  EXPECT_EQ(x.shape(), Shape({2}));
  const Tensor twice = (x + x).value();
  EXPECT_EQ(twice.shape(), Shape({3, 2}));
  EXPECT_EQ(twice.at(5), 12);
  EXPECT_EQ(row(x + x, 1).value().shape(), Shape({2}));
  EXPECT_EQ(sum({x}).value().at(1), 12);
  EXPECT_EQ(mean({x, x}).value().at(0), 3);
  EXPECT_FALSE(sum({x}).has_many_rows());
  EXPECT_EQ(rows({x, row(x, 0)}).value().shape(), Shape({4, 2}));
}

TEST(ManyRows, OutliveAGraphThatIsFinished) {
  const Net net;
  const std::vector<Sentence> sentences = random_sentences(2, 4);
  Graph graph;
  Graph twin({.execution = Execution::kPlain});
  std::vector<Expr> outputs;
  std::vector<Expr> expected;
  for (const Sentence& s : sentences) {
    outputs.push_back(net.scores(net.words.rows(graph, s.words), graph.rows({3}, s.features)));
    expected.push_back(net.scores(net.words.rows(twin, s.words), twin.rows({3}, s.features)));
  }
  graph.finish(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor given = outputs[i].value();
    const Tensor wanted = expected[i].value();
    ASSERT_EQ(given.shape(), wanted.shape());
    for (std::int64_t k = 0; k < given.elements(); ++k) EXPECT_NEAR(given.at(k), wanted.at(k), 1e-5);
  }
}

TEST(ManyRows, HaveMasksOfTheirOwn) {
  const auto loss_of = [](GraphOptions options) {
    Graph graph(options);
    graph.begin_instance(5);
    const Expr x = graph.rows({8}, std::vector<float>(24, 1));
    const auto drop = cell("drop", [](Expr in) { return dropout(dropout(in, 0.5) + in, 0.25); });
    return drop(x).value();
  };
  const Tensor cells = loss_of({.seed = 3, .step = 1});
  const Tensor expanded = loss_of({.seed = 3, .step = 1, .expand_cells = true});
  const Tensor twin = loss_of({.seed = 3, .step = 1, .execution = Execution::kPlain});
  bool rows_differ = false;
  for (std::int64_t i = 0; i < cells.elements(); ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(cells.at(i)), static_cast<float>(twin.at(i)));
    EXPECT_FLOAT_EQ(static_cast<float>(cells.at(i)), static_cast<float>(expanded.at(i)));
    rows_differ |= i >= 8 && cells.at(i) != cells.at(i - 8);
  }
  EXPECT_TRUE(rows_differ);
}

TEST(ManyRows, AreDividedByAMemoryBudget) {
  const Net net;
  const std::vector<Sentence> sentences = random_sentences(8, 40);
  const auto loss_of = [&](Graph& graph, std::vector<Expr>&) {
    std::vector<Expr> losses;
    std::vector<Expr> inputs;
    for (const Sentence& sentence : sentences) {
      graph.begin_instance();
      losses.push_back(net.many(graph, sentence, inputs));
    }
    return mean(losses);
  };
  const std::vector<Tensor> whole = testing::numbers_of(net.model, {}, loss_of);
  std::vector<Expr> inputs;
  Graph unlimited;
  loss_of(unlimited, inputs).backward();
  const std::int64_t budget = testing::budget_of(unlimited.statistics(), 20);
  testing::expect_near(testing::numbers_of(net.model, {.memory_budget = budget}, loss_of), whole, "in parts");
  Graph graph({.memory_budget = budget});
  inputs.clear();
  loss_of(graph, inputs).backward();
  EXPECT_GT(graph.statistics().parts, 1);
}

TEST(ManyRows, AreToldByExplain) {
  Graph graph;
  graph.begin_instance();
  const Expr x = tanh(graph.rows({2}, std::vector<float>(6, 1)));
  graph.begin_instance();
  const Expr y = tanh(graph.rows({2}, std::vector<float>(8, 1)));
  sum({x, y}).value();
  EXPECT_THAT(graph.explain(), HasSubstr("2 (7 rows)"));
}

TEST(ManyRows, RefuseWhatDoesNotFit) {
  Model model(1);
  const Parameter& table = (model / "t").add("table", {4, 2}, init::normal(0, 1));
  Graph graph;
  const Expr three = graph.rows({2}, std::vector<float>(6));
  const Expr two = graph.rows({2}, std::vector<float>(4));
  const Expr one = graph.input({2}, std::vector<float>(2));
  const auto told = [](const auto& f) { return testing::refusal_of(f); };
  EXPECT_THAT(told([&] { three + two; }), HasSubstr("add: a has 3 rows and b has 2 rows"));
  EXPECT_THAT(told([&] { three + one; }), HasSubstr("add: a has 3 rows and b is a single row"));
  EXPECT_THAT(told([&] { three + one; }), HasSubstr("float32[2] x 3"));
  EXPECT_THAT(told([&] {
                cross_entropy_rows(three, std::vector<std::int32_t>{0, 1});
              }),
              HasSubstr("cross_entropy: 2 rows are to be made, and x has 3"));
  EXPECT_THAT(told([&] {
                cross_entropy_rows(three, std::vector<std::int32_t>{0, 1, 2});
              }),
              HasSubstr("cross_entropy: label 2 is outside x [2] (labels 0 to 1)"));
  EXPECT_THAT(told([&] {
                lookup_rows(graph, table, std::vector<std::int32_t>{0, 9});
              }),
              HasSubstr("lookup: row 9 is outside the table (rows 0 to 3)"));
  EXPECT_THAT(told([&] { lookup_rows(graph, table, std::vector<std::int32_t>{}); }),
              HasSubstr("lookup: needs at least one row, and 0 are given"));
  EXPECT_THAT(told([&] { graph.rows({2}, std::vector<float>(5)); }),
              HasSubstr("rows: 5 values given for rows of shape [2], each of which holds 2"));
  EXPECT_THAT(told([&] { row(one, 0); }), HasSubstr("row: x is a single row"));
  EXPECT_THAT(told([&] { row(three, 3); }), HasSubstr("row: number 3 is outside x (rows 0 to 2)"));
  EXPECT_THAT(told([&] { sum(three, 0).backward(); }), HasSubstr("the loss must have one element, and float32[] x 3"));
  const auto add_cell = cell("plus", [](Expr a, Expr b) { return a + b; });
  EXPECT_EQ(add_cell(three, three).row_count(), 3);
  EXPECT_THAT(told([&] { add_cell(three, two); }), HasSubstr("has 3 rows and"));
  EXPECT_EQ(add_cell(one, one).row_count(), 1);
  EXPECT_EQ(add_cell(two, two).row_count(), 2);
}

}  // namespace
}  // namespace espalier::many_rows
