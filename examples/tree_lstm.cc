/// A Tree-LSTM that learns whether a phrase praises or not, from fourteen trees of different shapes.
#include <espalier/espalier.h>

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace esp = espalier;

namespace {

enum Word : std::int32_t { kGood, kBad, kFilm, kActors, kVery, kNot, kAnd, kWords };

/// A word, or two parts.
struct Tree {
  std::int32_t word = -1;
  std::vector<Tree> parts;
};

Tree leaf(Word word) { return {word, {}}; }
Tree node(Tree left, Tree right) { return {-1, {std::move(left), std::move(right)}}; }

struct Phrase {
  Tree tree;
  std::int32_t praise;
};

std::vector<Phrase> phrases() {
  const Tree good = leaf(kGood);
  const Tree bad = leaf(kBad);
  const Tree film = leaf(kFilm);
  const Tree actors = leaf(kActors);
  const auto very = [](const Tree& what) { return node(leaf(kVery), what); };
  const auto not_so = [](const Tree& what) { return node(leaf(kNot), what); };
  const auto both = [](const Tree& one, const Tree& other) { return node(one, node(leaf(kAnd), other)); };
  return {{good, 1},
          {bad, 0},
          {not_so(good), 0},
          {not_so(bad), 1},
          {very(good), 1},
          {very(very(bad)), 0},
          {not_so(very(bad)), 1},
          {node(good, film), 1},
          {node(bad, film), 0},
          {not_so(node(very(good), film)), 0},
          {both(node(good, film), node(good, actors)), 1},
          {both(node(bad, film), not_so(node(good, actors))), 0},
          {not_so(both(node(bad, film), node(bad, actors))), 1},
          {not_so(not_so(not_so(good))), 0}};
}

struct Net {
  esp::Model model;
  esp::nn::Embedding words{model / "words", kWords, 16};
  esp::nn::BinaryTreeLstm cell{model / "cell", 16, 32};
  esp::nn::Linear classify{model / "classify", 32, 2};

  esp::nn::TreeState encode(esp::Graph& g, const Tree& t) const {
    if (t.parts.empty()) return cell.leaf(words(g, t.word));
    return cell(encode(g, t.parts[0]), encode(g, t.parts[1]));
  }
};

double train_step(const Net& net, const std::vector<Phrase>& batch, esp::optim::Optimizer& optimizer) {
  esp::Graph g;  // records; computes nothing yet
  std::vector<esp::Expr> losses;
  for (const Phrase& phrase : batch) {
    g.begin_instance();
    losses.push_back(esp::cross_entropy(net.classify(net.encode(g, phrase.tree).h), phrase.praise));
  }
  const esp::Expr loss = esp::mean(losses);
  loss.backward();   // runs and differentiates: batched
  optimizer.step();  // updates the parameters and clears their gradients
  return loss.scalar();
}

/// How many phrases the net judges rightly.
int right_answers(const Net& net, const std::vector<Phrase>& set) {
  esp::Graph g({.training = false});
  int right = 0;
  for (const Phrase& phrase : set) {
    const esp::Tensor scores = net.classify(net.encode(g, phrase.tree).h).value();
    right += (scores.at(1) > scores.at(0)) == (phrase.praise == 1) ? 1 : 0;
  }
  return right;
}

}  // namespace

int main() {
  const std::vector<Phrase> set = phrases();
  Net net;
  esp::optim::Adam adam(net.model, {.learning_rate = 0.02});

  double first = 0;
  double last = 0;
  for (int step = 0; step < 60; ++step) {
    last = train_step(net, set, adam);
    if (step == 0) first = last;
    if (step % 10 == 0) std::printf("step %2d  loss %.4f\n", step, last);
  }
  const int right = right_answers(net, set);
  std::printf("%d of %zu phrases right\n", right, set.size());
  return last < first / 10 && right == static_cast<int>(set.size()) ? 0 : 1;
}
