/// Cells whose inputs are parameters, or made from parameters alone, such as states that are learned.
#include <gtest/gtest.h>

#include <vector>

#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"

namespace espalier::shared_inputs {
namespace {

struct Net {
  Model model{5};
  Parameter& p = model.add("p", {3}, init::uniform(-1, 1));
  Parameter& q = model.add("q", {3}, init::uniform(-1, 1));
  nn::BinaryTreeLstm tree{model / "tree", 3, 3};
  nn::LstmCell lstm{model / "lstm", 3, 3};
};

/// The sum over some instances of what `use` makes of x and of a learned state.
template <class Use>
void expect_agree(const Use& use) {
  for (const int derived : {0, 1, 2}) {
    SCOPED_TRACE(derived);
    const Net net;
    testing::expect_cells_agree(net.model, [&](Graph& graph, std::vector<Expr>& inputs) {
      const Expr h = derived == 0 ? graph.parameter(net.p) : tanh(graph.parameter(net.p));
      const Expr c = derived == 2 ? sigmoid(h) : graph.parameter(net.q);
      std::vector<Expr> losses;
      for (int i = 0; i < 3; ++i) {
        graph.begin_instance();
        inputs.push_back(graph.input({3}, std::vector<float>{0.5F, -0.3F, static_cast<float>(i)}));
        losses.push_back(sum(use(net, inputs.back(), h, c), 0));
      }
      return sum(losses);
    });
  }
}

TEST(SharedInputs, MayBeTheStateOfAChild) {
  expect_agree([](const Net& net, const Expr& x, const Expr& h, const Expr& c) {
    const nn::TreeState state = net.tree(net.tree.leaf(x), nn::TreeState{h, c});
    return state.h + state.c;
  });
  expect_agree([](const Net& net, const Expr& x, const Expr& h, const Expr& c) {
    const nn::TreeState state = net.tree(nn::TreeState{h, c}, nn::TreeState{});
    return net.tree(net.tree(net.tree.leaf(x), state), nn::TreeState{h, c}).h;
  });
}

TEST(SharedInputs, MayBeTheFirstStateOfASequence) {
  expect_agree([](const Net& net, const Expr& x, const Expr& h, const Expr& c) {
    const nn::LstmState state = net.lstm(x, {h, c});
    return net.lstm(x, state).h + state.c;
  });
}

}  // namespace
}  // namespace espalier::shared_inputs
