/// Feed-forward attention (Raffel and Ellis, 2016) on their own problem: a long list of numbers, two of them marked;
/// what is the sum of those two? Nothing recurs: where to look is all there is to learn.
#include <espalier/blocks.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

struct Step {
  double number = 0;
  double mark = 0;
};
struct List {
  std::vector<Step> steps;
  double answer = 0;
};

List make_list(esp::Random& random) {
  List list;
  list.steps.resize(20 + static_cast<std::size_t>(random.below(21)));
  for (Step& step : list.steps) step.number = random.uniform(-1, 1);
  const std::int64_t half = std::ssize(list.steps) / 2;
  for (const std::int64_t place : {random.below(half), half + random.below(half)}) {
    Step& marked = list.steps[static_cast<std::size_t>(place)];
    marked.mark = 1;
    list.answer += marked.number;
  }
  return list;
}

std::vector<List> lists(esp::Random& random, int count) {
  std::vector<List> result;
  for (int i = 0; i < count; ++i) result.push_back(make_list(random));
  return result;
}

// model begins
b::Block attention_model(esp::Model& model) {
  constexpr esp::nn::Activation kLeakyRelu = esp::nn::Activation::kLeakyRelu;
  const b::Block features = b::all_of({b::get(&Step::number) >> b::scalar(), b::get(&Step::mark) >> b::scalar()});
  const b::Block state = features >> b::concat() >> esp::nn::FC(model / "state", 2, 32, {.activation = kLeakyRelu});
  const b::Block score =
      esp::nn::Linear(model / "score", 32, 1) >> b::function([](esp::Expr x) { return esp::pick(x, 0); });

  b::Composition attend("attend");
  const b::Wire states = attend(b::get(&List::steps) >> b::map(state), attend.input());
  const b::Wire scores = attend(b::map(score >> esp::exp), states);
  const b::Wire total = attend(b::sum() >> b::broadcast(), scores);
  const b::Wire weights = attend(b::zip_with([](esp::Expr x, esp::Expr all) { return x / all; }), {scores, total});
  const b::Wire context =
      attend(b::zip_with([](esp::Expr w, esp::Expr h) { return w * h; }) >> b::sum(), {weights, states});
  attend.output().reads(context);
  return attend >> esp::nn::Mlp(model / "answer", {32, 32, 1}, {.activation = kLeakyRelu});
}
// model ends

double mean_error(const b::Program& program, const std::vector<List>& set) {
  double error = 0;
  std::size_t i = 0;
  for (const b::Result& result : b::stream(program, set)) error += std::abs(result.item() - set[i++].answer);
  return error / static_cast<double>(set.size());
}

}  // namespace

int main() {
  esp::Model model;
  const b::Block sum_of_marked = attention_model(model);
  const auto squared_error = [](esp::Expr y, double answer) { return esp::square(esp::pick(y, 0) - answer); };
  const b::Program answers(sum_of_marked);
  const b::Program losses(b::all_of({sum_of_marked, b::get(&List::answer)}) >> squared_error >> b::loss("error"));

  esp::Random random(9);
  const std::vector<List> held_out = lists(random, 300);
  std::printf("before: off by %.3f\n", mean_error(answers, held_out));
  esp::optim::Adam adam(model, {.learning_rate = 5e-3});
  for (int step = 0; step < 600; ++step) {
    esp::Graph g;
    losses.loss(g, lists(random, 32)).backward();
    adam.step();
  }
  const double error = mean_error(answers, held_out);
  std::printf("after:  off by %.3f; a sum of %.3f is said to be %.3f\n", error, held_out[0].answer,
              answers.eval(held_out[0]).item());
  if (error < 0.05) return 0;
  std::puts("less than 0.05 is expected");
  return 1;
}
