/// The claims of docs/surprises.md, as code: the program says which does not hold, and ends with 1 then.
#include <espalier/espalier.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace esp = espalier;

namespace {

int wrong = 0;

void expect(bool holds, const char* claim) {
  if (holds) return;
  std::printf("does not hold: %s\n", claim);
  ++wrong;
}

/// The first line of what is refused; "" if nothing is.
template <class F>
std::string refusal_of(const F& f) {
  try {
    f();
  } catch (const esp::UsageError& error) {
    const std::string_view text = error.what();
    return std::string(text.substr(0, text.find('\n')));
  }
  return "";
}

void nothing_is_computed_before_it_is_asked_for() {
  esp::Graph g;
  const esp::Expr x = g.input({{2}, {0, -1}});
  const esp::Expr y = esp::log(x);        // recorded; shapes are checked here
  const esp::Tensor numbers = y.value();  // computed here: -inf and NaN
  const esp::Expr z = esp::sum(y, 0);     // recording goes on

  expect(numbers.at(0) < -1e30 && numbers.at(1) != numbers.at(1), "values are those of <cmath>");
  expect(z.shape() == esp::Shape{}, "a sum over an axis takes the axis away");
}

void gradients_add_up() {
  esp::Model model;
  const esp::Parameter& w = model.add("w", {}, esp::init::constant(3));
  esp::optim::Sgd sgd(model, {.learning_rate = 1});

  esp::Graph g;
  const esp::Expr loss = g.constant(2) * w;
  loss.backward();
  loss.backward();  // adds: the gradient is 2 + 2 now
  const double both = model.gradients().find(w)->dense.item();
  sgd.step();  // w -= 4, and the gradients are cleared
  const bool cleared = model.gradients().empty();

  expect(both == 4 && cleared, "gradients add up until a step clears them");
  expect(w.value().item() == -1, "a step uses the sum");
}

void an_expr_dies_with_its_records() {
  esp::Graph g;
  const esp::Expr x = g.constant(1);
  const esp::Tensor kept = x.value();  // a copy: this is how a result is carried further
  g.clear();
  const std::string said = refusal_of([&] { esp::tanh(x); });

  expect(said == "tanh: x belongs to a graph that was cleared or destroyed", "a stale Expr is refused");
  expect(kept.item() == 1, "a value is a copy");
}

void backward_frees_what_it_does_not_read() {
  esp::Model model;
  const esp::Parameter& w = model.add("w", {2, 2}, esp::init::constant(1));
  esp::optim::Sgd sgd(model, {.learning_rate = 1});

  esp::Graph g;
  const esp::Expr scores = esp::linear(g.input({{2}, {1, 2}}), w);
  const esp::Expr halves = 0.5 * scores;
  g.keep(scores);  // its value outlives backward() and finish()
  esp::sum(halves, 0).backward();
  sgd.step();
  const double kept = scores.value().at(0);
  const auto said = refusal_of([&] { halves.value(); });  // freed, and w is no longer what it was

  expect(kept == 3, "a kept value is still there after a step");
  expect(said == "run: parameter \"w\" was changed after this graph recorded it", "a freed value is not made up");
}

void equal_lookups_are_one_computation() {
  esp::Model model;
  const esp::Parameter& table = model.add("table", {3, 2}, esp::init::constant(1));

  esp::Graph g;
  std::vector<esp::Expr> words;
  for (int i = 0; i < 4; ++i) words.push_back(esp::tanh(esp::lookup(g, table, i % 2)));
  esp::sum(esp::sum(words), 0).backward();
  const esp::Statistics taken = g.statistics();  // 2 lookups, 2 tanh, 2 sums ran; 4 nodes were merged

  expect(taken.nodes == 6 && taken.merged == 4, "equal lookups, and what is computed from them alone, run once");
  expect(model.gradients().find(table)->rows.size() == 2, "gradients are those of all four");
}

void an_older_graph_refuses_changed_parameters() {
  esp::Model model;
  const esp::Parameter& w = model.add("w", {}, esp::init::constant(3));
  esp::optim::Sgd sgd(model, {.learning_rate = 1});

  esp::Graph g;
  const esp::Expr loss = g.constant(2) * w;
  loss.backward();
  sgd.step();
  const double before = loss.scalar();                  // was computed before the step: still there
  const esp::Expr more = loss + w;                      // recording is allowed,
  const auto said = refusal_of([&] { more.value(); });  // computing with the new w is not

  expect(before == 6, "what was computed stays");
  expect(said == "run: parameter \"w\" was changed after this graph recorded it", "older graphs refuse");
}

void only_rank_0_is_stretched() {
  esp::Graph g;
  const esp::Expr row = g.constant({3}, 1);
  const esp::Expr one = g.constant({1}, 1);
  const esp::Expr number = g.constant(1);
  const esp::Expr fine = row + number;  // rank 0 stands beside any shape
  const auto said = refusal_of([&] { row + one; });

  expect(fine.shape() == esp::Shape{3}, "rank 0 is stretched");
  expect(said == "add: shape of a ([3]) and shape of b ([1]) differ", "a size of 1 is not");
}

esp::Tensor masked(std::uint64_t key, int others_before) {
  esp::Graph g({.seed = 7, .step = 12});
  for (int i = 0; i < others_before; ++i) {
    g.begin_instance(static_cast<std::uint64_t>(100 + i));
    esp::dropout(g.constant({64}, 1), 0.5);
  }
  g.begin_instance(key);  // the number of the input in its data set
  return esp::dropout(g.constant({64}, 1), 0.5).value();
}

void every_minibatch_has_its_own_masks() {
  const auto one_minibatch = [] {
    esp::Graph g;
    g.begin_instance();
    return esp::dropout(g.constant({64}, 1), 0.5).value();
  };
  const esp::Tensor before = one_minibatch();
  const std::uint64_t saved = esp::StepCounter::global().next();
  const esp::Tensor next = one_minibatch();
  esp::StepCounter::global().set_next(saved);
  const esp::Tensor again = one_minibatch();  // the same masks

  expect(!(next == before), "the next minibatch draws other masks");
  expect(again == next, "a counter that is restored gives the same masks");
}

void masks_belong_to_the_instance() {
  expect(masked(42, 0) == masked(42, 5), "a mask does not depend on what else is in the graph");
  expect(!(masked(42, 0) == masked(43, 0)), "another instance has another mask");
}

void rows_that_were_not_used_stand_still() {
  esp::Model model;
  const esp::nn::Embedding words(model / "words", 3, 2);
  const esp::Parameter& table = model.parameter("words.table");
  esp::optim::Sgd sgd(model, {.learning_rate = 1, .momentum = 0.9, .weight_decay = 0.1});

  const auto use = [&](std::int32_t row) {
    esp::Graph g;
    esp::sum_elements(words(g, row)).backward();
    sgd.step();
  };
  use(0);
  const esp::Tensor after_one = table.value();
  use(1);  // neither momentum nor weight decay moves rows 0 and 2

  expect(table.value().at(0) == after_one.at(0), "row 0 did not move");
  expect(table.value().at(4) == after_one.at(4), "row 2 did not move");
  expect(table.value().at(2) != after_one.at(2), "row 1 moved");
}

void kinks_and_ties_are_settled() {
  esp::Graph g;
  const esp::Expr zero = g.constant(0);
  const esp::Expr one = g.constant(1);
  const esp::Expr same = g.constant(1);
  const esp::Expr y = esp::relu(zero) + esp::abs(zero) + esp::maximum({one, same});
  y.backward({.wanted = {zero, one, same}});

  expect(zero.grad().item() == 0, "relu and abs have slope 0 at 0");
  expect(one.grad().item() == 1 && same.grad().item() == 0, "of equal elements the first gets the gradient");
}

void double_is_the_reference() {
  esp::Graph g({.dtype = esp::DType::kFloat64});
  const esp::Expr x = g.constant(1);
  const auto said = refusal_of([&] { x + g.input({{}, {1}}); });

  expect(esp::exp(x).scalar() == std::exp(1.0), "float64 is computed by the plain code");
  expect(said == "add: a is float64 and b is float32", "types are not mixed");
}

void what_runs_together_can_be_asked() {
  esp::Graph g;
  const esp::Expr x = g.constant({3}, 1);
  const esp::Expr y = g.constant({3}, 2);
  const auto together = [&](const esp::Expr& a, const esp::Expr& b) {
    return g.signature_id(a.node()) == g.signature_id(b.node());
  };

  expect(together(0.5 * x, 0.25 * y), "a constant factor is a field");
  expect(together(esp::sum({x, y}), esp::sum({x, y, x})), "a sum of two and a sum of three have one signature");
  expect(!together(esp::slice(x, 0, 1), esp::slice(y, 1, 2)), "where a slice begins is an attribute");
}

}  // namespace

int main() {
  nothing_is_computed_before_it_is_asked_for();
  gradients_add_up();
  an_expr_dies_with_its_records();
  backward_frees_what_it_does_not_read();
  equal_lookups_are_one_computation();
  an_older_graph_refuses_changed_parameters();
  only_rank_0_is_stretched();
  every_minibatch_has_its_own_masks();
  masks_belong_to_the_instance();
  rows_that_were_not_used_stand_still();
  kinks_and_ties_are_settled();
  double_is_the_reference();
  what_runs_together_can_be_asked();
  std::printf("%s\n", wrong == 0 ? "all claims hold" : "some claims do not hold");
  return wrong == 0 ? 0 : 1;
}
