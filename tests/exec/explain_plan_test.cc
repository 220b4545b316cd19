/// A dry run says what will run, to the letter of what is said afterwards, and computes nothing.
#include "espalier/exec/explain_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/exec/small_model.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using testing::refusal_of;

class ExplainPlan : public testing::SmallModel {
 protected:
  const nn::BinaryTreeLstm cell{model / "cell", kWidth, kWidth};

  /// Lopsided trees of 1 to 5 words, some of them equal, and a part of each state.
  Expr record(Graph& graph) const {
    std::vector<Expr> losses;
    for (std::int32_t words = 1; words <= 5; ++words) {
      graph.begin_instance();
      nn::TreeState state = cell.leaf(lookup(graph, table, 0));
      for (std::int32_t word = 1; word < words; ++word)
        state = cell(state, cell.leaf(lookup(graph, table, words + word - 2)));
      losses.push_back(sum(slice(linear(state.h, W), 1, 4) * slice(state.c, 0, 3), 0));
    }
    return sum(losses);
  }
  /// The lines of a text but the last.
  static std::string without_last_line(const std::string& text) {
    return text.substr(0, text.rfind('\n', text.size() - 2) + 1);
  }
};

TEST_F(ExplainPlan, SaysWhatExplainSaysAfterwards) {
  for (const Strategy strategy : testing::kStrategies)
    for (const Memoise memoise : {Memoise::kOff, Memoise::kLookups})
      for (const RunKind kind : {RunKind::kValue, RunKind::kBackward, RunKind::kFinish}) {
        Graph graph({.strategy = strategy, .memoise = memoise});
        const Expr loss = record(graph);
        const std::string before = explain_plan({loss}, kind);
        EXPECT_EQ(graph.statistics().runs, 0);
        EXPECT_EQ(graph.statistics().nodes, 0);
        if (kind == RunKind::kValue)
          static_cast<void>(loss.scalar());
        else if (kind == RunKind::kBackward)
          loss.backward();
        else
          graph.finish({loss});
        EXPECT_EQ(without_last_line(before), graph.explain()) << name_of(strategy);
      }
}

TEST_F(ExplainPlan, ChangesNoNumber) {
  const auto run = [&](bool asks) {
    Graph graph;
    const Expr loss = record(graph);
    if (asks)
      for (const RunKind kind : {RunKind::kFinish, RunKind::kBackward, RunKind::kValue})
        static_cast<void>(explain_plan({loss}, kind));
    Gradients gradients;
    loss.backward({.into = &gradients, .wanted = {}});
    std::vector<double> numbers{loss.scalar(), gradients.norm()};
    numbers.push_back(static_cast<double>(graph.statistics().steps));
    return numbers;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_F(ExplainPlan, TellsTheMemoryOfValuesAndGradients) {
  Graph graph;
  const Expr x = graph.input({16}, std::vector<float>(16, 1.0F));
  const Expr loss = sum(tanh(x), 0);
  const std::string text = explain_plan({loss}, RunKind::kBackward);
  EXPECT_NE(text.find("memory: 128 B for values, "), std::string::npos) << text;
  EXPECT_EQ(explain_plan({loss}).find("gradients"), std::string::npos);
}

TEST_F(ExplainPlan, OfTheReferenceTwinCountsNodes) {
  Graph graph({.execution = Execution::kPlain});
  const Expr x = graph.input({2}, {1.0F, 2.0F});
  EXPECT_EQ(explain_plan({tanh(x) + x}), "2 nodes, to be computed one by one by the reference code\n");
  EXPECT_EQ(graph.statistics().runs, 0);
}

TEST_F(ExplainPlan, RefusesWhatIsNoPlanToCome) {
  Graph graph;
  const Expr x = graph.input({2}, {1.0F, 2.0F});
  const Expr y = tanh(x);
  Graph other;
  const Expr z = tanh(other.input({2}, {1.0F, 2.0F}));
  EXPECT_EQ(refusal_of<UsageError>([&] { explain_plan(std::vector<Expr>()); }), "explain_plan: no Expr was given");
  EXPECT_EQ(refusal_of<UsageError>([&] { explain_plan({y, z}); }), "explain_plan: an Expr belongs to another graph");
  static_cast<void>(y.value());
  EXPECT_EQ(refusal_of<UsageError>([&] { explain_plan({y}); }),
            "explain_plan: values of this graph were computed already\n"
            "  hint: call it before the first value(), backward() or finish(); Graph::explain() says what ran");
}

}  // namespace
}  // namespace espalier
