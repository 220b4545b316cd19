/// The CRF against the enumeration of all sequences of tags.
#include "espalier/models/crf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

using espalier::testing::check_gradients;
using espalier::testing::expect_cells_agree;
using espalier::testing::randomise;

Tensor random_scores(std::int32_t positions, std::int32_t tags, std::uint64_t seed, DType dtype = DType::kFloat64) {
  Random random(seed);
  Tensor scores({positions, tags}, dtype);
  for (std::int64_t i = 0; i < scores.elements(); ++i) scores.set(i, random.uniform(-2, 2));
  return scores;
}

/// The rows of a tensor as one node of many rows.
Expr as_rows(Graph& graph, const Tensor& scores) {
  std::vector<Expr> rows;
  for (std::int64_t r = 0; r < scores.shape()[0]; ++r) {
    Tensor one({scores.shape()[1]}, scores.dtype());
    for (std::int64_t c = 0; c < scores.shape()[1]; ++c) one.set(c, scores.at(r * scores.shape()[1] + c));
    rows.push_back(graph.input(one));
  }
  return espalier::rows(rows);
}

double score_of(const Model& model, const Tensor& scores, const std::vector<std::int32_t>& tags) {
  const std::int64_t n = scores.shape()[1];
  double total =
      model.parameter("crf.start").value().at(tags.front()) + model.parameter("crf.end").value().at(tags.back());
  for (std::size_t t = 0; t < tags.size(); ++t) {
    total += scores.at(static_cast<std::int64_t>(t) * n + tags[t]);
    if (t > 0) total += model.parameter("crf.transitions").value().at(tags[t] * n + tags[t - 1]);
  }
  return total;
}

/// All sequences of tags.
std::vector<std::vector<std::int32_t>> sequences(std::int64_t positions, std::int32_t tags) {
  std::vector<std::vector<std::int32_t>> all{{}};
  for (std::int64_t t = 0; t < positions; ++t) {
    std::vector<std::vector<std::int32_t>> longer;
    for (const auto& sequence : all)
      for (std::int32_t tag = 0; tag < tags; ++tag) {
        longer.push_back(sequence);
        longer.back().push_back(tag);
      }
    all = longer;
  }
  return all;
}

TEST(Crf, SumsOverAllSequencesOfTags) {
  for (const std::int32_t positions : {1, 2, 5})
    for (const std::int32_t tags : {1, 3, 4}) {
      Model model;
      const Crf crf(model / "crf", tags);
      randomise(model, static_cast<std::uint64_t>(positions * 10 + tags));
      const Tensor scores = random_scores(positions, tags, 3);
      double sum = 0;
      for (const auto& sequence : sequences(positions, tags)) sum += std::exp(score_of(model, scores, sequence));
      Graph graph({.dtype = DType::kFloat64});
      EXPECT_NEAR(crf.log_partition(as_rows(graph, scores)).scalar(), std::log(sum), 1e-10) << positions << " " << tags;
    }
}

TEST(Crf, ScoresASequenceAndFindsTheBestOne) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    Model model;
    const Crf crf(model / "crf", 3);
    randomise(model, seed);
    const Tensor scores = random_scores(5, 3, seed);
    std::vector<std::int32_t> best;
    double most = -1e300;
    Graph graph({.dtype = DType::kFloat64});
    const Expr rows = as_rows(graph, scores);
    for (const auto& sequence : sequences(5, 3)) {
      const double score = score_of(model, scores, sequence);
      if (score > most) {
        most = score;
        best = sequence;
      }
    }
    EXPECT_NEAR(crf.score(rows, best).scalar(), most, 1e-10);
    EXPECT_EQ(crf.best(scores), best);
  }
}

TEST(Crf, HasTheGradientsOfItsLoss) {
  Model model;
  const Crf crf(model / "crf", 3);
  randomise(model);
  const Tensor scores = random_scores(4, 3, 9);
  check_gradients(model, [&](Graph& graph) {
    const Expr one = crf.loss(as_rows(graph, scores), std::vector<std::int32_t>{2, 0, 0, 1});
    return one + crf.loss(as_rows(graph, random_scores(1, 3, 10)), std::vector<std::int32_t>{1});
  });
}

TEST(Crf, GivesTheNumbersOfPlainCodeInEveryWay) {
  Model model;
  const Crf crf(model / "crf", 5);
  randomise(model);
  model.to(DType::kFloat32);
  expect_cells_agree(model, [&](Graph& graph, std::vector<Expr>& inputs) {
    std::vector<Expr> losses;
    for (const std::int32_t length : {1, 3, 7}) {
      graph.begin_instance();
      std::vector<std::int32_t> tags;
      std::vector<Expr> rows;
      for (std::int32_t t = 0; t < length; ++t) {
        tags.push_back((t * t + length) % 5);
        inputs.push_back(
            graph.input(random_scores(5, 1, static_cast<std::uint64_t>(t + length), DType::kFloat32).reshaped({5})));
        rows.push_back(inputs.back());
      }
      losses.push_back(crf.loss(espalier::rows(rows), tags));
    }
    return sum(losses);
  });
}

TEST(Crf, RunsTheSamePositionsOfAllSequencesTogether) {
  const auto steps = [](int sequences) {
    Model model;
    const Crf crf(model / "crf", 4);
    Graph graph;
    std::vector<Expr> losses;
    for (int i = 0; i < sequences; ++i) {
      graph.begin_instance();
      losses.push_back(crf.loss(as_rows(graph, random_scores(6, 4, static_cast<std::uint64_t>(i), DType::kFloat32)),
                                std::vector<std::int32_t>{0, 1, 2, 3, 0, 1}));
    }
    sum(losses).backward();
    EXPECT_EQ(graph.explain().find("op by op"), std::string::npos) << graph.explain();
    return graph.statistics().steps;
  };
  EXPECT_EQ(steps(2), steps(20));
}

TEST(Crf, StaysFiniteWithScoresOfAnySize) {
  Model model;
  const Crf crf(model / "crf", 2);
  Graph graph;
  Tensor scores({3, 2}, {-1e4F, 1e4F, 1e4F, -1e4F, 3e4F, 3e4F});
  EXPECT_NEAR(crf.log_partition(as_rows(graph, scores)).scalar(), 5e4 + std::log(2.0), 0.01);
}

TEST(Crf, RefusesAnotherNumberOfTags) {
  Model model;
  const Crf crf(model / "crf", 2);
  Graph graph;
  const Expr scores = as_rows(graph, random_scores(3, 2, 1, DType::kFloat32));
  EXPECT_EQ(testing::refusal_of([&] {
              crf.loss(scores, std::vector<std::int32_t>{0, 1});
            }),
            "crf: 2 tags for 3 positions");
  EXPECT_EQ(testing::refusal_of([&] { Crf(model / "other", 0); }), "crf: the number of tags is from 1 to 1024, not 0");
}

}  // namespace
}  // namespace espalier::models
