/// Block programs are exported from samples as plain code is: recursion, dispatch by the data, sums of any length.
#include <gtest/gtest.h>

#include "espalier/blocks.h"
#include "espalier/data/sexpr.h"
#include "tests/onnx/cases.h"

namespace espalier::onnx {
namespace {

namespace b = espalier::blocks;
using testing::expect_runtime_agrees;
using testing::OnnxFolder;
using testing::write_case;

/// (label word) or (label tree tree), as in examples/sentiment.cc.
b::Block tree_lstm(Model& model, const b::Vocabulary& words) {
  const nn::Embedding table(model / "words", words.size(), 4);
  const nn::BinaryTreeLstm cell(model / "cell", 4, 5);
  const nn::Linear classify(model / "classify", 5, 3);
  const b::Forward tree = b::forward("tree");
  const b::Block leaf = b::get(1) >> b::lookup(words) >> b::embedding(table) >> [cell](Expr x) { return cell.leaf(x); };
  const b::Block inner = b::all_of({b::get(1) >> tree(), b::get(2) >> tree()}) >> cell;
  const auto parts = b::key([](const Value& node) { return node.size(); });
  tree.resolve_to(b::one_of(parts, {{2, leaf}, {3, inner}}));
  return tree() >> [classify](const nn::TreeState& state) { return classify(state.h); };
}

TEST(OnnxBlocks, OnnxRuntimeComputesPrograms) {
  const OnnxFolder folder;
  Model model;
  const b::Program tree(tree_lstm(model, b::Vocabulary(std::vector<std::string>{"a", "b", "c"})));
  const b::Program total =
      b::Program::of<std::vector<float>>(b::map(b::scalar() >> [](const Expr& x) { return tanh(x); }) >> b::sum());
  Graph graph({.training = false});
  std::vector<Instance> trees;
  for (const char* text : {"(1 (0 a) (2 b))", "(0 c)", "(1 (1 (0 a) (0 b)) (1 (0 c) (2 (1 c) (1 a))))"})
    trees.push_back({tree.record(graph, data::parse_sexpr(text, data::SexprForm::kTrees)).leaf()});
  write_case(folder / "tree", {"scores"}, {trees[0]}, trees);
  std::vector<Instance> sums;
  for (const std::size_t size : {1, 2, 9}) sums.push_back({total.record(graph, std::vector<float>(size, 0.5F)).leaf()});
  write_case(folder / "sum", {"total"}, {sums[1]}, sums);
  expect_runtime_agrees(folder, 2);
}

}  // namespace
}  // namespace espalier::onnx
