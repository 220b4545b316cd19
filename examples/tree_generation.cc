/// Top-down generation of trees by a doubly recurrent network (Alvarez-Melis and Jaakkola, 2017): a node's state comes
/// from those of its parent and of its sibling before; its scores say what it is, and whether another sibling follows.
/// Each tree is a coroutine, each node a task: all nodes whose parents are known, in all trees, run as one batch.
#include <espalier/espalier.h>

#include <cstdio>
#include <string>
#include <vector>

namespace esp = espalier;

namespace {

/// The language to learn: arithmetic. "+" has two operands or three, "-" has one, and "x" has none.
enum Symbol { kPlus, kMinus, kLeaf, kSymbols };

struct Tree {
  std::int32_t symbol = kLeaf;
  std::vector<Tree> children;
};

Tree draw_tree(esp::Random& random, int height) {
  if (height == 0 || random.below(3) == 0) return {kLeaf, {}};
  const bool adds = random.below(2) == 0;
  Tree tree{adds ? kPlus : kMinus, {}};
  const std::int64_t count = adds ? 2 + random.below(2) : 1;
  for (std::int64_t i = 0; i < count; ++i) tree.children.push_back(draw_tree(random, height - 1));
  return tree;
}

bool is_right(const Tree& tree) {
  const std::size_t count = tree.children.size();
  const bool fits = tree.symbol == kPlus ? count == 2 || count == 3 : count == (tree.symbol == kMinus ? 1U : 0U);
  bool all = fits;
  for (const Tree& child : tree.children) all = all && is_right(child);
  return all;
}

std::string text_of(const Tree& tree) {
  if (tree.children.empty()) return "x";
  std::string text = tree.symbol == kPlus ? "(+" : "(-";
  for (const Tree& child : tree.children) text += " " + text_of(child);
  return text + ")";
}

struct Generator {
  static constexpr int kSize = 24;
  static constexpr int kDeepest = 8;  // nodes there are leaves, whatever the network says

  esp::Model model;
  esp::nn::Embedding symbols{model / "symbols", kSymbols + 1, kSize};  // the last: in place of a sibling or parent
  esp::nn::GruCell from_parent{model / "from_parent", kSize, kSize};
  esp::nn::GruCell from_sibling{model / "from_sibling", kSize, kSize};
  esp::nn::Linear join{model / "join", 2 * kSize, kSize};
  esp::nn::Linear what{model / "what", kSize, kSymbols};
  esp::nn::Linear more{model / "more", 2 * kSize, 2};  // siblings after this node: 0 no, 1 yes

  /// The state of a node, from the symbols and states of its parent and its sibling before.
  struct Place {
    esp::Expr parent, sibling;
  };
  Place root(esp::Graph& g) const { return {from_parent.initial(g), from_sibling.initial(g)}; }
  Place below(esp::Graph& g, std::int32_t parent, const Place& of) const {
    return {from_parent(symbols(g, parent), of.parent), from_sibling.initial(g)};
  }
  Place after(esp::Graph& g, std::int32_t sibling, const Place& of) const {
    return {of.parent, from_sibling(symbols(g, sibling), of.sibling)};
  }
  esp::Expr symbol_scores(const Place& at) const { return what(tanh(join(esp::concat({at.parent, at.sibling})))); }
  esp::Expr more_scores(const Place& next) const { return more(esp::concat({next.parent, next.sibling})); }

  /// Everything is known: no value is needed in the middle.
  void add_losses(esp::Graph& g, const Tree& tree, const Place& at, std::vector<esp::Expr>& losses) const {
    losses.push_back(esp::cross_entropy(symbol_scores(at), tree.symbol));
    Place child = below(g, tree.symbol, at);
    if (tree.symbol == kLeaf) return;
    for (std::size_t i = 0; i < tree.children.size(); ++i) {
      add_losses(g, tree.children[i], child, losses);
      child = after(g, tree.children[i].symbol, child);
      losses.push_back(esp::cross_entropy(more_scores(child), i + 1 < tree.children.size() ? 1 : 0));
    }
  }

  /// The symbol of a node is drawn first, so that its siblings need not wait for what is below it.
  esp::Task<Tree> generate(esp::Graph& g, Place at, std::int32_t symbol, int height) const {
    Tree tree{symbol, {}};
    if (symbol == kLeaf) co_return tree;
    std::vector<esp::Task<Tree>> children;
    Place child = below(g, symbol, at);
    for (std::int64_t follows = 1; follows != 0 && children.size() < 4;) {
      auto of_child = static_cast<std::int32_t>(co_await esp::sample(symbol_scores(child)));
      if (height + 1 >= kDeepest) of_child = kLeaf;
      children.push_back(generate(g, child, of_child, height + 1));
      child = after(g, of_child, child);
      follows = co_await esp::sample(more_scores(child));
    }
    tree.children = co_await esp::when_all(std::move(children));
    co_return tree;
  }
  esp::Task<Tree> generate(esp::Graph& g) const {
    const Place at = root(g);
    const auto symbol = static_cast<std::int32_t>(co_await esp::sample(symbol_scores(at)));
    co_return co_await generate(g, at, symbol, 0);
  }
};

}  // namespace

int main() {
  esp::Random random(1);
  Generator net;
  esp::optim::Adam adam(net.model, {.learning_rate = 0.01});
  for (int batch = 0; batch < 150; ++batch) {
    esp::Graph g;
    std::vector<esp::Expr> losses;
    for (int i = 0; i < 16; ++i) {
      g.begin_instance();
      net.add_losses(g, draw_tree(random, 4), net.root(g), losses);
    }
    esp::mean(losses).backward();
    adam.step();
  }
  const std::vector<int> count(200);
  esp::RunStatistics took;
  const std::vector<Tree> trees =
      esp::run_batched(count, [&](esp::Graph& g, int) { return net.generate(g); }, {.statistics = &took});
  double right = 0;
  for (const Tree& tree : trees) right += is_right(tree) ? 1 : 0;
  for (std::size_t i = 0; i < 5; ++i) std::printf("%s\n", text_of(trees[i]).c_str());
  std::printf("%.2f of the trees are well formed; %.1f rows per step\n", right / 200, took.graphs.rows_a_step());
  return right / 200 > 0.9 ? 0 : 1;
}
