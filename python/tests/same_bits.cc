/// What test_same_bits.py writes in Python: trains a Tree-LSTM with dropout, prints the loss of each step with all its
/// bits, and saves the weights.
/// usage: same_bits WEIGHTS
#include <espalier/espalier.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace esp = espalier;

namespace {

constexpr int kSteps = 30;

struct Tree {
  int word;                 // of a leaf
  std::vector<Tree> parts;  // none, or two
};

struct Net {
  esp::Model model{5};
  esp::nn::Embedding words{model / "words", 4, 24};
  esp::nn::BinaryTreeLstm cell{model / "cell", 24, 40};
  esp::nn::Dropout dropout{0.25};
  esp::nn::Linear classify{model / "classify", 40, 2};

  esp::nn::TreeState encode(esp::Graph& g, const Tree& t) const {
    if (t.parts.empty()) return cell.leaf(dropout(words(g, t.word)));
    const esp::nn::TreeState left = encode(g, t.parts[0]);  // first: the order of calls chooses masks of dropout
    return cell(left, encode(g, t.parts[1]));
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const Tree good{0, {}}, bad{1, {}}, no{2, {}}, very{3, {}};
  const Tree trees[] = {good, bad, {-1, {no, good}}, {-1, {no, bad}}, {-1, {no, {-1, {very, bad}}}}};
  const int praises[] = {1, 0, 0, 1, 1};
  Net net;
  esp::optim::Adam adam(net.model, {.learning_rate = 0.01});
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    esp::Graph g({.seed = 7, .step = step});
    std::vector<esp::Expr> losses;
    for (int i = 0; i < 5; ++i) {
      g.begin_instance();
      losses.push_back(esp::cross_entropy(net.classify(net.encode(g, trees[i]).h), praises[i]));
    }
    const esp::Expr loss = esp::mean(losses);
    loss.backward();
    adam.step();
    std::printf("%a\n", loss.scalar());
  }
  net.model.save(arguments[1]);
  return 0;
}
