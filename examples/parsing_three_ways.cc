/// A greedy parser written in three ways that decide alike: as in DyNet, one value at a time, which runs one row per
/// step; all sentences in lockstep, by hand; and with tasks. docs/control_flow.md shows them beside each other.
#include <espalier/espalier.h>

#include <cstdio>
#include <string>
#include <vector>

namespace esp = espalier;

namespace {

using Words = std::vector<std::int32_t>;  // the last one is the root
enum Move { kShift, kLeft, kRight };

struct State {
  explicit State(const Words& words) : root(static_cast<int>(words.size()) - 1), heads(words.size(), -1) {}

  int top(std::size_t k) const { return k < stack.size() ? stack[stack.size() - 1 - k] : root; }
  bool is_done() const { return stack.empty() && front == root; }
  /// The move with the highest score of those that are allowed.
  int best(const esp::Tensor& scores) const {
    int found = -1;
    for (const int move : {kShift, kLeft, kRight}) {
      const bool allowed = move == kShift ? front < root : move == kLeft ? !stack.empty() : stack.size() >= 2;
      if (allowed && (found < 0 || scores.at(move) > scores.at(found))) found = move;
    }
    return found;
  }
  void make(int move) {
    if (move == kShift) return stack.push_back(front++);
    heads[static_cast<std::size_t>(top(0))] = move == kLeft ? front : top(1);
    stack.pop_back();
  }

  int root;
  int front = 0;
  std::vector<int> stack;
  std::vector<int> heads;
};

struct Parser {
  esp::Model model;
  esp::nn::Embedding words{model / "words", 100, 32};
  esp::nn::BiLstm lstm{model / "lstm", 32, 32};
  esp::nn::Mlp score{model / "score", {192, 32, 3}};

  esp::Expr encode(esp::Graph& g, const Words& sentence) const { return lstm.rows(words.rows(g, sentence)); }
  esp::Expr scores(const esp::Expr& tokens, const State& state) const {
    return score(esp::concat({row(tokens, state.top(1)), row(tokens, state.top(0)), row(tokens, state.front)}));
  }
};

using Parses = std::vector<std::vector<int>>;

Parses parse_one_by_one(const Parser& parser, esp::Graph& g, const std::vector<Words>& sentences) {
  Parses parses;
  for (const Words& sentence : sentences) {
    g.begin_instance();
    const esp::Expr tokens = parser.encode(g, sentence);
    State state(sentence);
    while (!state.is_done()) state.make(state.best(parser.scores(tokens, state).value()));
    parses.push_back(state.heads);
  }
  return parses;
}

Parses parse_in_lockstep(const Parser& parser, esp::Graph& g, const std::vector<Words>& sentences) {
  std::vector<esp::Expr> tokens;
  std::vector<State> states;
  for (const Words& sentence : sentences) {
    g.begin_instance();
    tokens.push_back(parser.encode(g, sentence));
    states.emplace_back(sentence);
  }
  for (;;) {
    std::vector<std::size_t> open;  // sentences that are not parsed yet
    std::vector<esp::Expr> scores;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i].is_done()) continue;
      open.push_back(i);
      scores.push_back(parser.scores(tokens[i], states[i]));
    }
    if (open.empty()) break;
    g.compute(scores);  // one run for all
    for (std::size_t k = 0; k < open.size(); ++k) states[open[k]].make(states[open[k]].best(scores[k].value()));
  }
  Parses parses;
  for (const State& state : states) parses.push_back(state.heads);
  return parses;
}

esp::Task<std::vector<int>> parse(const Parser& parser, esp::Graph& g, const Words& sentence) {
  const esp::Expr tokens = parser.encode(g, sentence);
  State state(sentence);
  while (!state.is_done()) {
    const esp::Tensor scores = co_await parser.scores(tokens, state);
    state.make(state.best(scores));
  }
  co_return state.heads;
}

Parses parse_by_tasks(const Parser& parser, esp::Graph& g, const std::vector<Words>& sentences) {
  return esp::run_batched(g, sentences, [&](esp::Graph& of, const Words& words) { return parse(parser, of, words); });
}

}  // namespace

int main() {
  esp::Random random(1);
  std::vector<Words> sentences(64);
  for (Words& words : sentences)
    for (std::int64_t i = 3 + random.below(20); i > 0; --i)
      words.push_back(static_cast<std::int32_t>(random.below(100)));
  const Parser parser;
  esp::Graph one, lockstep, tasks;
  const Parses parses = parse_one_by_one(parser, one, sentences);
  if (parse_in_lockstep(parser, lockstep, sentences) != parses || parse_by_tasks(parser, tasks, sentences) != parses)
    return 1;
  std::printf("rows per step: %.1f one by one, %.1f in lockstep, %.1f by tasks\n", one.statistics().rows_a_step(),
              lockstep.statistics().rows_a_step(), tasks.statistics().rows_a_step());
  const bool is_told = one.explain().find("values were asked for one by one") != std::string::npos;
  const bool is_quiet = tasks.explain().find("one by one") == std::string::npos;
  return is_told && is_quiet && tasks.statistics().steps == lockstep.statistics().steps ? 0 : 1;
}
