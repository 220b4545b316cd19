/// A cell of one's own: a function of Exprs that is recorded as one node a use. It learns to tell which of two
/// sequences is longer, from their last states alone.
#include <espalier/espalier.h>

#include <cstdio>
#include <vector>

namespace esp = espalier;

namespace {

struct Net {
  esp::Model model;
  esp::nn::Linear from_input{model / "from_input", 2, 16};
  esp::nn::Linear from_state{model / "from_state", 16, 16};
  esp::nn::Linear classify{model / "classify", 32, 2};

  // Traced once, compiled, and from then on one node a use. The input does not come from the recursion: its product
  // runs for all steps of all sequences at once.
  esp::Cell<esp::Expr(esp::Expr, esp::Expr)> step =
      esp::cell("step", [this](esp::Expr x, esp::Expr h) { return esp::tanh(from_input(x) + from_state(h)); },
                {.outer = {0}, .inputs = {"x", "h"}});

  esp::Expr read(esp::Graph& g, int length) const {
    esp::Expr h = g.constant({16}, 0);
    for (int t = 0; t < length; ++t) h = step(g.input({2}, std::vector<float>{1, t % 2 == 0 ? 1.0F : -1.0F}), h);
    return h;
  }
};

}  // namespace

int main() {
  Net net;
  esp::optim::Adam optimizer(net.model, {.learning_rate = 5e-3});
  esp::Random random(7);
  double right = 0;
  esp::Graph g;
  for (int minibatch = 0; minibatch < 400; ++minibatch) {
    g.clear();
    std::vector<esp::Expr> losses;
    std::vector<esp::Expr> scores;
    std::vector<int> answers;
    for (int i = 0; i < 32; ++i) {
      g.begin_instance();
      const int a = 1 + static_cast<int>(random.below(12));
      const int b = 1 + static_cast<int>(random.below(12));
      scores.push_back(net.classify(esp::concat({net.read(g, a), net.read(g, b)}, 0)));
      answers.push_back(a > b ? 1 : 0);
      g.keep(scores.back());
      losses.push_back(esp::cross_entropy(scores.back(), answers.back()));
    }
    esp::mean(losses).backward();
    if (minibatch == 0) std::fputs(g.explain().c_str(), stdout);
    if (minibatch >= 350)
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const esp::Tensor values = scores[i].value();
        right += (values.at(1) > values.at(0) ? 1 : 0) == answers[i] ? 1 : 0;
      }
    optimizer.step();
  }
  std::printf("right: %.1f %%\n", right / (50 * 32) * 100);
  return right / (50 * 32) > 0.9 ? 0 : 1;
}
