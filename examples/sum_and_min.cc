/// Learning to add up, and to find the smallest: one model, a layer that combines two states, reduced over a list of
/// any length. Only the answers differ. Lists are learned up to 8 numbers long and tested up to 12.
#include <espalier/blocks.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

struct Example {
  std::vector<double> numbers;
  double answer = 0;
};

using Rule = double (*)(const std::vector<double>&);
double sum_of(const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); }
double smallest(const std::vector<double>& list) { return *std::ranges::min_element(list); }

std::vector<Example> examples(esp::Random& random, Rule rule, int count, int longest) {
  std::vector<Example> result(static_cast<std::size_t>(count));
  for (Example& example : result) {
    example.numbers.resize(1 + static_cast<std::size_t>(random.below(longest)));
    for (double& number : example.numbers) number = random.uniform(-1, 1);
    example.answer = rule(example.numbers);
  }
  return result;
}

double mean_error(const b::Program& program, const std::vector<Example>& set) {
  double error = 0;
  std::size_t i = 0;
  for (const b::Result& result : b::stream(program, set)) error += std::abs(result.leaf().at(0) - set[i++].answer);
  return error / static_cast<double>(set.size());
}

/// Learns a rule; returns how far off it is on average afterwards.
double learn(const char* name, Rule rule) {
  esp::Model model;
  const b::Block into = b::all_of({b::scalar()}) >> b::concat() >> esp::nn::Linear(model / "into", 1, 24);
  const b::Block combine = b::concat() >> esp::nn::Mlp(model / "combine", {48, 48, 24});
  const b::Block result =
      b::get(&Example::numbers) >> b::map(into) >> b::reduce(combine) >> esp::nn::Linear(model / "out", 24, 1);
  const b::Program program(result);
  const auto squared_error = [](esp::Expr y, double answer) { return esp::square(esp::pick(y, 0) - answer); };
  const b::Program losses(b::all_of({result, b::get(&Example::answer)}) >> squared_error >> b::loss("squared error"));

  esp::Random random(4);
  const std::vector<Example> held_out = examples(random, rule, 500, 12);
  const double before = mean_error(program, held_out);
  constexpr int kSteps = 1200;
  esp::optim::Adam adam(model, {.learning_rate = 2e-3});
  for (int step = 0; step < kSteps; ++step) {
    esp::Graph g;
    losses.loss(g, examples(random, rule, 64, 8)).backward();
    adam.step();
  }
  const double after = mean_error(program, held_out);
  std::printf("%s: off by %.3f before, by %.3f after\n", name, before, after);
  const std::vector<Example> sample{{{0.5, -0.25, 0.75}, 0}};
  std::printf("  (0.5, -0.25, 0.75) -> %.3f\n", program.eval(sample[0]).item());
  return after;
}

}  // namespace

int main() {
  if (learn("sum", sum_of) < 0.1 && learn("min", smallest) < 0.1) return 0;
  std::puts("less than 0.1 is expected");
  return 1;
}
