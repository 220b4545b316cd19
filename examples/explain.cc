/// What ran together and what did not, and why: the report of a minibatch of sequences of different lengths.
#include <espalier/espalier.h>

#include <cstdio>
#include <vector>

namespace esp = espalier;

int main() {
  esp::Model model;
  const esp::nn::Embedding words(model / "words", 10, 8);
  const esp::nn::Linear cell(model / "cell", 16, 8);
  const esp::nn::Linear question(model / "question", 8, 2);
  const esp::nn::Linear answer(model / "answer", 8, 2);

  esp::Graph g;
  std::vector<esp::Expr> losses;
  for (int i = 0; i < 6; ++i) {
    g.begin_instance();
    esp::Expr h = g.constant({8}, 0.0);
    for (int t = 0; t < 2 + i % 3; ++t) h = esp::tanh(cell(esp::concat({h, words(g, t + i)})));
    const esp::nn::Linear& head = i % 2 == 0 ? question : answer;  // other weights: these cannot run together
    losses.push_back(esp::cross_entropy(head(h), i % 2));
  }
  esp::mean(losses).backward();
  std::fputs(g.explain().c_str(), stdout);

  const esp::Statistics taken = g.statistics();
  return taken.steps == taken.bound + taken.forced ? 0 : 1;
}
