/// Steps that add to one row from several of theirs, in several threads. Label: threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/support/threads.h"

namespace espalier {
namespace {

/// One state that the last step reads and then many rows of one step read: its gradient holds numbers when those add.
std::vector<double> gradients(const Model& model, const nn::BinaryTreeLstm& cell, bool expand, int threads) {
  const testing::Threads at_once(threads);
  Graph graph({.expand_cells = expand});
  Tensor values({8});
  for (std::int64_t i = 0; i < 8; ++i) values.set(i, 0.1 * static_cast<double>(i) - 0.3);
  const nn::TreeState child = cell.leaf(graph.input(values));
  constexpr int kParents = 96;
  std::vector<Expr> losses;
  for (int i = 0; i < kParents; ++i) losses.push_back(sum(cell(child, child).h, 0));
  Expr last = sum(losses);
  last = last + sum(tanh(child.h + child.c) * last, 0);
  Gradients into;
  last.backward({.into = &into, .wanted = {}});
  std::vector<double> numbers{last.scalar()};
  for (const Parameter* parameter : model.parameters()) {
    const Gradient* gradient = into.find(*parameter);
    const Tensor whole = gradient == nullptr ? Tensor(parameter->shape()) : gradient->to_tensor();
    for (std::int64_t i = 0; i < whole.elements(); ++i) numbers.push_back(whole.at(i));
  }
  return numbers;
}

TEST(SharedRows, AreAddedToByOneThread) {
  Model model(1);
  const nn::BinaryTreeLstm cell(model / "cell", 8, 65);
  for (const bool expand : {false, true}) {
    const std::vector<double> expected = gradients(model, cell, expand, 1);
    for (int time = 0; time < 5; ++time) {
      const std::vector<double> actual = gradients(model, cell, expand, 4);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(actual[i], expected[i], 1e-3 * std::abs(expected[i]) + 1e-3) << i << (expand ? ", expanded" : "");
    }
  }
}

}  // namespace
}  // namespace espalier
