/// The program of the README: a Tree-LSTM learns whether phrases praise or not.
#include <espalier/espalier.h>

#include <cstdio>
#include <vector>

namespace esp = espalier;

enum Word { kGood, kBad, kNot, kVery, kWords };

struct Tree {
  int word;                 // of a leaf
  std::vector<Tree> parts;  // none, or two
};

struct Net {
  esp::Model model;
  esp::nn::Embedding words{model / "words", kWords, 16};
  esp::nn::BinaryTreeLstm cell{model / "cell", 16, 32};
  esp::nn::Linear classify{model / "classify", 32, 2};

  esp::nn::TreeState encode(esp::Graph& g, const Tree& t) const {  // written for one tree
    if (t.parts.empty()) return cell.leaf(words(g, t.word));
    return cell(encode(g, t.parts[0]), encode(g, t.parts[1]));
  }
};

int main() {
  const Tree good{kGood, {}}, bad{kBad, {}}, no{kNot, {}}, very{kVery, {}};
  const Tree trees[] = {good, bad, {-1, {no, good}}, {-1, {no, bad}}, {-1, {no, {-1, {very, bad}}}}};
  const int praises[] = {1, 0, 0, 1, 1};

  Net net;
  esp::optim::Adam adam(net.model, {.learning_rate = 0.01});
  double loss_value = 0;
  for (int epoch = 0; epoch < 100; ++epoch) {
    esp::Graph g;  // records; computes nothing yet
    std::vector<esp::Expr> losses;
    for (int i = 0; i < 5; ++i) {
      g.begin_instance();
      losses.push_back(esp::cross_entropy(net.classify(net.encode(g, trees[i]).h), praises[i]));
    }
    const esp::Expr loss = esp::mean(losses);
    loss.backward();  // runs all trees together, forward and backward
    adam.step();
    loss_value = loss.scalar();
  }
  std::printf("loss %.4f\n", loss_value);
  return loss_value < 0.01 ? 0 : 1;
}
