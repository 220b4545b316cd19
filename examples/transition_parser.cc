/// A greedy transition parser (arc-hybrid, BiLSTM features) that picks each move from its scores. Each sentence is a
/// coroutine; where it awaits a move, it waits for the moves of all other sentences, which run as one batch. It learns
/// from the right parse (static oracle), then also from the mistakes that it makes itself (dynamic oracle).
#include <espalier/espalier.h>

#include <array>
#include <cstdio>
#include <span>
#include <vector>

namespace esp = espalier;

namespace {

enum Word { kNothing, kRoot, kThe, kDog, kCat, kSees, kOf, kWith, kWords };

/// Words 1 to n, and before and behind them a token for nothing and one for the root. Heads are numbers of tokens.
struct Sentence {
  std::vector<std::int32_t> words{kNothing};
  std::vector<int> heads{0};
  int add(int word, int head = 0) {
    words.push_back(word);
    heads.push_back(head);
    return static_cast<int>(words.size()) - 1;
  }
};

int add_noun_phrase(Sentence& s, esp::Random& random, int head) {
  const int the = s.add(kThe);
  const int noun = s.add(random.below(2) == 0 ? kDog : kCat, head);
  s.heads[static_cast<std::size_t>(the)] = noun;
  if (random.below(3) == 0) add_noun_phrase(s, random, s.add(kOf, noun));  // "the dog of the cat"
  return noun;
}

Sentence make_sentence(esp::Random& random) {
  Sentence s;
  const int subject = add_noun_phrase(s, random, 0);
  const int verb = s.add(kSees);
  s.heads[static_cast<std::size_t>(subject)] = verb;
  add_noun_phrase(s, random, verb);
  if (random.below(2) == 0) add_noun_phrase(s, random, s.add(kWith, verb));  // "sees the cat with the dog"
  s.words.push_back(kRoot);
  s.heads[static_cast<std::size_t>(verb)] = static_cast<int>(s.words.size()) - 1;
  return s;
}

enum Move { kShift, kLeft, kRight };  // left: a dependent of the first of the buffer; right: of the word below

struct State {
  explicit State(const Sentence& s) : root(static_cast<int>(s.words.size()) - 1), heads(s.heads.size(), 0) {}

  int top(std::size_t k) const { return k < stack.size() ? stack[stack.size() - 1 - k] : 0; }
  bool is_done() const { return stack.empty() && front == root; }
  bool allows(int move) const {
    return move == kShift ? front < root : move == kLeft ? !stack.empty() : stack.size() >= 2;
  }
  void make(int move) {
    if (move == kShift) return stack.push_back(front++);
    heads[static_cast<std::size_t>(top(0))] = move == kLeft ? front : top(1);
    stack.pop_back();
  }
  /// Arcs of the right parse that a move makes impossible (Goldberg and Nivre, 2013).
  int cost(int move, const std::vector<int>& gold) const {
    const auto head = [&](int word) { return word == root ? -1 : gold[static_cast<std::size_t>(word)]; };
    int lost = 0;
    if (move == kShift) {
      for (std::size_t k = 0; k < stack.size(); ++k)
        lost += (k > 0 && head(front) == top(k) ? 1 : 0) + (head(top(k)) == front ? 1 : 0);
      return lost;
    }
    for (int word = front; word < root; ++word) lost += head(word) == top(0) ? 1 : 0;
    const int right = head(top(0));
    if (move == kLeft) return lost + (right > front || (stack.size() > 1 && right == top(1)) ? 1 : 0);
    return lost + (right >= front ? 1 : 0);
  }
  /// The first of the allowed moves that cost least: an arc before a shift.
  int oracle(const std::vector<int>& gold) const {
    int best = -1;
    for (const int move : {kLeft, kRight, kShift})
      if (allows(move) && (best < 0 || cost(move, gold) < cost(best, gold))) best = move;
    return best;
  }

  int root;
  int front = 1;
  std::vector<int> stack;
  std::vector<int> heads;
};

struct Parser {
  esp::Model model;
  esp::nn::Embedding words{model / "words", kWords, 16};
  esp::nn::BiLstm lstm{model / "lstm", 16, 16};
  esp::nn::Mlp score{model / "score", {96, 32, 3}};

  /// Of the three moves; those that are not allowed score too little to be chosen.
  esp::Expr scores(esp::Graph& g, const esp::Expr& tokens, const State& state) const {
    std::array<float, 3> mask{};
    for (const int move : {kShift, kLeft, kRight})
      mask[static_cast<std::size_t>(move)] = state.allows(move) ? 0 : -1e6F;
    return score(esp::concat({row(tokens, state.top(1)), row(tokens, state.top(0)), row(tokens, state.front)})) +
           g.input({3}, mask);
  }
  esp::Task<std::vector<int>> parse(esp::Graph& g, const Sentence& s) const {
    const esp::Expr tokens = lstm.rows(words.rows(g, s.words));
    State state(s);
    while (!state.is_done()) state.make(static_cast<int>(co_await esp::argmax(scores(g, tokens, state))));
    co_return state.heads;
  }
  /// Explores: goes on with its own move, right or wrong. Otherwise no value is needed before the end.
  esp::Task<esp::Expr> loss(esp::Graph& g, const Sentence& s, bool explores) const {
    const esp::Expr tokens = lstm.rows(words.rows(g, s.words));
    std::vector<esp::Expr> losses;
    State state(s);
    while (!state.is_done()) {
      const int right = state.oracle(s.heads);
      const esp::Expr of_moves = scores(g, tokens, state);
      losses.push_back(esp::cross_entropy(of_moves, right));
      state.make(explores ? static_cast<int>(co_await esp::argmax(of_moves)) : right);
    }
    co_return esp::sum(losses);
  }
};

}  // namespace

int main() {
  esp::Random random(1);
  std::vector<Sentence> train, test;
  for (int i = 0; i < 320; ++i) (i < 256 ? train : test).push_back(make_sentence(random));
  Parser parser;
  esp::optim::Adam adam(parser.model, {.learning_rate = 0.01});
  for (int epoch = 0; epoch < 6; ++epoch)
    for (std::size_t begin = 0; begin < train.size(); begin += 32) {
      esp::Graph g;
      const std::span<const Sentence> batch = std::span(train).subspan(begin, 32);
      const auto loss_of = [&](esp::Graph& of, const Sentence& s) { return parser.loss(of, s, epoch >= 3); };
      esp::mean(esp::run_batched(g, batch, loss_of)).backward();
      adam.step();
    }
  esp::RunStatistics took;
  const auto parses = esp::run_batched(test, [&](esp::Graph& g, const Sentence& s) { return parser.parse(g, s); },
                                       {.statistics = &took});
  double right = 0, all = 0;
  for (std::size_t i = 0; i < test.size(); ++i)
    for (std::size_t w = 1; w < test[i].heads.size(); ++w, ++all) right += parses[i][w] == test[i].heads[w] ? 1 : 0;
  std::printf("UAS %.3f, %.1f rows per step\n", right / all, took.graphs.rows_a_step());
  return right / all > 0.97 ? 0 : 1;
}
