/// A calculator that is learned: from expressions as JSON-like trees, with an answer for each, it finds out what the
/// digits, + and * mean. It shows recursion (forward), a choice by the data (one_of) and weights of each case's own.
#include <espalier/blocks.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

/// An expression of so many digits, with the last digit of what it comes to:
///   {"op": "+", "answer": 2, "left": {"op": "digit", "answer": 7}, "right": {"op": "digit", "answer": 5}}
esp::Value expression(esp::Random& random, std::int64_t digits) {
  if (digits == 1) return esp::Value::map({{"op", "digit"}, {"answer", random.below(10)}});
  const std::int64_t first = 1 + random.below(digits - 1);
  const esp::Value left = expression(random, first);
  const esp::Value right = expression(random, digits - first);
  const std::int64_t x = left.at("answer").as_integer();
  const std::int64_t y = right.at("answer").as_integer();
  const bool adds = random.below(2) == 0;
  return esp::Value::map(
      {{"op", adds ? "+" : "*"}, {"answer", (adds ? x + y : x * y) % 10}, {"left", left}, {"right", right}});
}

std::vector<esp::Value> expressions(esp::Random& random, int count, int most_digits) {
  std::vector<esp::Value> result;
  for (int i = 0; i < count; ++i) result.push_back(expression(random, 1 + random.below(most_digits)));
  return result;
}

struct Calculator {
  static constexpr int kState = 32;

  esp::Model model;
  esp::nn::Embedding digits{model / "digits", 10, kState};
  esp::nn::Mlp plus{model / "plus", {2 * kState, 64, kState}};
  esp::nn::Mlp times{model / "times", {2 * kState, 64, kState}};
  esp::nn::Linear classify{model / "classify", kState, 10};

  /// A vector of ten scores for an expression.
  b::Block scores() const {
    const b::Forward value = b::forward("value");
    const b::Block operands = b::record({{"left", value()}, {"right", value()}}) >> b::concat();
    value.resolve_to(b::one_of(
        b::key("op"),
        {{"digit", b::get("answer") >> b::embedding(digits)}, {"+", operands >> plus}, {"*", operands >> times}}));
    return value() >> classify;
  }
};

std::int64_t answer_in(const esp::Tensor& scores) {
  return std::ranges::max_element(scores.as<float>()) - scores.as<float>().begin();
}

double share_right(const b::Program& program, const std::vector<esp::Value>& set) {
  double right = 0;
  std::size_t i = 0;
  for (const b::Result& scores : b::stream(program, set))
    right += answer_in(scores.leaf()) == set[i++].at("answer").as_integer() ? 1 : 0;
  return right / static_cast<double>(set.size());
}

}  // namespace

int main() {
  Calculator calculator;
  const b::Block scores = calculator.scores();
  const b::Program answers(scores);
  const b::Program losses(b::all_of({scores, b::get("answer")}) >> esp::cross_entropy >> b::loss("answer"));

  esp::Random random(1);
  const std::vector<esp::Value> held_out = expressions(random, 500, 10);
  std::printf("before: %5.1f %% of answers right\n", 100 * share_right(answers, held_out));
  esp::optim::Adam adam(calculator.model, {.learning_rate = 2e-3});
  for (int step = 0; step < 1200; ++step) {
    esp::Graph g;
    losses.loss(g, expressions(random, 64, 6)).backward();
    adam.step();
  }
  const double right = share_right(answers, held_out);
  std::printf("after:  %5.1f %%, of expressions of up to 10 digits, learned from up to 6\n", 100 * right);
  if (right > 0.95) return 0;
  std::puts("more than 95 % are expected");
  return 1;
}
