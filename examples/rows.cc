/// Nodes of many rows, and a recursion over a structure that is given as data: a tagger whose sentence is one node, and
/// a cost model of query plans whose plan is one.
#include <espalier/espalier.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace esp = espalier;

namespace {

constexpr std::int32_t kWords = 8;

struct Tagger {
  esp::Model model;
  esp::nn::Embedding words{model / "words", kWords, 8};
  esp::nn::BiLstm lstm{model / "lstm", 8, 12};
  esp::nn::Linear classify{model / "classify", 24, 2};

  // Written for one sentence. What is done to the node is done to each of its rows, one for each word.
  esp::Expr scores(esp::Graph& g, const std::vector<std::int32_t>& sentence) const {
    return classify(lstm.rows(words.rows(g, sentence)));
  }
};

/// Which words come again later in their sentence.
std::vector<std::int32_t> comes_again(const std::vector<std::int32_t>& sentence) {
  std::vector<std::int32_t> tags;
  for (auto word = sentence.begin(); word != sentence.end(); ++word)
    tags.push_back(std::find(word + 1, sentence.end(), *word) != sentence.end() ? 1 : 0);
  return tags;
}

/// The share of right tags in the last minibatches.
double train_tagger() {
  Tagger net;
  esp::optim::Adam adam(net.model, {.learning_rate = 0.01});
  esp::Random random(5);
  double right = 0;
  double asked = 0;
  esp::Graph g;
  for (int minibatch = 0; minibatch < 1200; ++minibatch) {
    g.clear();
    std::vector<esp::Expr> losses;
    for (int i = 0; i < 32; ++i) {
      g.begin_instance();
      std::vector<std::int32_t> sentence(static_cast<std::size_t>(1 + random.below(9)));
      for (std::int32_t& word : sentence) word = static_cast<std::int32_t>(random.below(kWords));
      const std::vector<std::int32_t> tags = comes_again(sentence);
      const esp::Expr scores = net.scores(g, sentence);
      losses.push_back(esp::cross_entropy_rows(scores, tags));  // a loss for every word
      if (minibatch < 1180) continue;
      const esp::Tensor values = scores.value();  // [words, 2]
      for (std::size_t t = 0; t < tags.size(); ++t) {
        const auto at = static_cast<std::int64_t>(2 * t);
        right += (values.at(at + 1) > values.at(at) ? 1 : 0) == tags[t] ? 1 : 0;
        ++asked;
      }
    }
    esp::mean(losses).backward();  // over all words of all sentences
    adam.step();
  }
  return right / asked;
}

/// Operators in the order in which they run. Children are numbers of earlier operators.
struct Operator {
  std::string kind;  // "scan", "join" or "sort"
  float rows;        // that a scan reads
  std::vector<std::int32_t> children;
};

struct CostModel {
  esp::Model model;
  esp::nn::Linear scan{model / "scan", 1, 16};
  esp::nn::Linear join{model / "join", 1 + 2 * 16, 16};
  esp::nn::Linear sort{model / "sort", 1 + 16, 16};
  esp::nn::Linear cost{model / "cost", 16, 1};

  // One network per kind of operator. It reads the operator's features and the states of its children.
  using In = std::span<const esp::Expr>;
  esp::Recursion plan{"plan",
                      {{"scan", 0, [this](In in) { return esp::tanh(scan(in[0])); }},
                       {"join", 2, [this](In in) { return esp::tanh(join(esp::concat(in, 0))); }},
                       {"sort", 1, [this](In in) { return esp::tanh(sort(esp::concat(in, 0))); }}}};

  esp::Expr estimate(esp::Graph& g, const std::vector<Operator>& operators) const {
    std::vector<float> features;
    esp::Structure structure;
    for (const Operator& op : operators) {
      features.push_back(op.rows);
      structure.add(plan.kind(op.kind), structure.size(), op.children);
    }
    const esp::Expr states = plan(g.rows({1}, features), structure)[0];
    return cost(esp::row(states, structure.size() - 1));  // the root is the last row
  }
};

/// A plan that joins some tables one after the other, sorted or not, and what it costs.
float draw_plan(esp::Random& random, std::vector<Operator>& plan) {
  plan.clear();
  float cost = 0;
  std::int32_t top = -1;
  for (auto tables = 1 + random.below(4); tables > 0; --tables) {
    const auto rows = static_cast<float>(random.uniform(0, 1));
    plan.push_back({.kind = "scan", .rows = rows, .children = {}});
    cost += 0.2F * rows;
    const auto scanned = static_cast<std::int32_t>(plan.size()) - 1;
    if (top >= 0) plan.push_back({.kind = "join", .rows = 0, .children = {top, scanned}});
    top = static_cast<std::int32_t>(plan.size()) - 1;
  }
  if (random.below(2) == 0) {
    plan.push_back({.kind = "sort", .rows = 0, .children = {top}});
    cost += 0.5F;
  }
  return cost;
}

/// How far the estimates of the last minibatches are off, on average.
double train_cost_model() {
  CostModel net;
  esp::optim::Adam adam(net.model, {.learning_rate = 5e-3});
  esp::Random random(3);
  std::vector<Operator> plan;
  double off = 0;
  for (int minibatch = 0; minibatch < 400; ++minibatch) {
    esp::Graph g;
    std::vector<esp::Expr> losses;
    for (int i = 0; i < 32; ++i) {
      g.begin_instance();
      const float cost = draw_plan(random, plan);
      losses.push_back(esp::squared_distance(net.estimate(g, plan), g.input({1}, std::vector<float>{cost})));
    }
    const esp::Expr loss = esp::mean(losses);
    loss.backward();
    if (minibatch >= 380) off += loss.scalar() / 20;
    if (minibatch == 0) std::fputs(g.explain().c_str(), stdout);
    adam.step();
  }
  return off;
}

}  // namespace

int main() {
  const double right = train_tagger();
  const double off = train_cost_model();
  std::printf("tags right: %.1f %%\ncosts off by, squared: %.4f\n", 100 * right, off);
  return right > 0.9 && off < 0.01 ? 0 : 1;
}
