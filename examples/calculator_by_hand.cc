/// The learned calculator of calculator.cc as plain code on a graph: recursion and `switch` in place of blocks. The
/// code is for one expression; those of a minibatch run together, whatever their shapes.
#include <espalier/blocks.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace esp = espalier;

namespace {

/// A digit, or two parts; and the last digit of what it comes to.
struct Expression {
  char op = 'd';
  std::int32_t answer = 0;
  std::vector<Expression> parts;
};

Expression expression(esp::Random& random, std::int64_t digits) {
  if (digits == 1) return {'d', static_cast<std::int32_t>(random.below(10)), {}};
  const std::int64_t first = 1 + random.below(digits - 1);
  const Expression x = expression(random, first);
  const Expression y = expression(random, digits - first);
  if (random.below(2) == 0) return {'+', (x.answer + y.answer) % 10, {x, y}};
  return {'*', (x.answer * y.answer) % 10, {x, y}};
}

struct Calculator {
  esp::Model model;
  esp::nn::Embedding digits{model / "digits", 10, 32};
  esp::nn::Mlp plus{model / "plus", {64, 64, 32}};
  esp::nn::Mlp times{model / "times", {64, 64, 32}};
  esp::nn::Linear classify{model / "classify", 32, 10};

  esp::Expr value(esp::Graph& g, const Expression& e) const {
    switch (e.op) {
      case '+': return plus(esp::concat({value(g, e.parts[0]), value(g, e.parts[1])}));
      case '*': return times(esp::concat({value(g, e.parts[0]), value(g, e.parts[1])}));
      default: return digits(g, e.answer);
    }
  }
};

/// The scores of so many new expressions, and their answers.
struct Minibatch {
  std::vector<esp::Expr> scores;
  std::vector<std::int32_t> answers;

  Minibatch(esp::Graph& g, const Calculator& calculator, esp::Random& random, int count, int most_digits) {
    for (int i = 0; i < count; ++i) {
      g.begin_instance();
      const Expression e = expression(random, 1 + random.below(most_digits));
      scores.push_back(calculator.classify(calculator.value(g, e)));
      answers.push_back(e.answer);
    }
  }
};

double share_right(const Calculator& calculator, esp::Random random) {
  esp::Graph g({.training = false});
  const Minibatch held_out(g, calculator, random, 500, 10);
  g.finish(held_out.scores);
  double right = 0;
  for (std::size_t i = 0; i < held_out.scores.size(); ++i) {
    const esp::Tensor scores = held_out.scores[i].value();
    right += std::ranges::max_element(scores.as<float>()) - scores.as<float>().begin() == held_out.answers[i] ? 1 : 0;
  }
  return right / static_cast<double>(held_out.scores.size());
}

}  // namespace

int main() {
  Calculator calculator;
  esp::optim::Adam adam(calculator.model, {.learning_rate = 2e-3});
  std::printf("before: %5.1f %% of answers right\n", 100 * share_right(calculator, esp::Random(2)));
  esp::Random random(1);
  esp::Graph g;
  for (int step = 0; step < 1200; ++step) {
    g.clear();
    const Minibatch batch(g, calculator, random, 64, 6);
    std::vector<esp::Expr> losses;
    for (std::size_t i = 0; i < batch.scores.size(); ++i)
      losses.push_back(esp::cross_entropy(batch.scores[i], batch.answers[i]));
    esp::mean(losses).backward();
    adam.step();
  }
  const double right = share_right(calculator, esp::Random(2));
  std::printf("after:  %5.1f %%, of expressions of up to 10 digits, learned from up to 6\n", 100 * right);
  if (right > 0.95) return 0;
  std::puts("more than 95 % are expected");
  return 1;
}
