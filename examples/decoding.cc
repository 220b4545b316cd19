/// A sequence-to-sequence model that writes numbers backwards, decoded greedily and by beam search until its end
/// symbol. Sequences end at different times: each is a coroutine, and in every step those that are still decoding run
/// as one batch. The hypotheses of a beam are tasks of their own.
#include <espalier/espalier.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace esp = espalier;

namespace {

using Digits = std::vector<std::int32_t>;
constexpr std::int32_t kEnd = 10, kSymbols = 11;
constexpr std::size_t kLongest = 12;
constexpr int kSize = 48;

Digits backwards(const Digits& digits) { return {digits.rbegin(), digits.rend()}; }

struct Translator {
  esp::Model model;
  esp::nn::Embedding symbols{model / "symbols", kSymbols, kSize};
  esp::nn::LstmCell encoder{model / "encoder", kSize, kSize};
  esp::nn::LstmCell decoder{model / "decoder", kSize, kSize};
  esp::nn::Linear classify{model / "classify", kSize, kSymbols};
  using State = esp::nn::LstmState;

  State encode(esp::Graph& g, const Digits& input) const {
    State state = encoder.initial(g);
    for (const std::int32_t digit : input) state = encoder(symbols(g, digit), state);
    return state;
  }
  State step(esp::Graph& g, std::int32_t symbol, const State& state) const {
    return decoder(symbols(g, symbol), state);
  }

  /// The right symbols are known: no value is needed in the middle.
  esp::Expr loss(esp::Graph& g, const Digits& input) const {
    State state = encode(g, input);
    std::vector<esp::Expr> losses;
    std::int32_t before = kEnd;
    Digits output = backwards(input);
    output.push_back(kEnd);
    for (const std::int32_t symbol : output) {
      state = step(g, before, state);
      losses.push_back(esp::cross_entropy(classify(state.h), symbol));
      before = symbol;
    }
    return esp::sum(losses);
  }

  esp::Task<Digits> greedy(esp::Graph& g, const Digits& input) const {
    State state = encode(g, input);
    Digits output;
    std::int32_t symbol = kEnd;
    while (output.size() < kLongest) {
      state = step(g, symbol, state);
      symbol = static_cast<std::int32_t>(co_await esp::argmax(classify(state.h)));
      if (symbol == kEnd) break;
      output.push_back(symbol);
    }
    co_return output;
  }

  struct Hypothesis {
    State state;
    Digits output;
    double score = 0;
    bool ended = false;
  };

  /// All hypotheses that follow from one.
  esp::Task<std::vector<Hypothesis>> extend(esp::Graph& g, const Hypothesis& from) const {
    if (from.ended) co_return std::vector<Hypothesis>{from};
    const State state = step(g, from.output.empty() ? kEnd : from.output.back(), from.state);
    const esp::Expr scores = esp::log_softmax(classify(state.h));
    const esp::Tensor log_probabilities = co_await scores;
    std::vector<Hypothesis> next;
    for (std::int32_t symbol = 0; symbol < kSymbols; ++symbol) {
      next.push_back({state, from.output, from.score + log_probabilities.at(symbol), symbol == kEnd});
      if (symbol != kEnd) next.back().output.push_back(symbol);
    }
    co_return next;
  }

  esp::Task<Digits> beam(esp::Graph& g, const Digits& input, std::size_t width) const {
    std::vector<Hypothesis> beam(1);
    beam[0].state = encode(g, input);
    for (std::size_t length = 0; length < kLongest && !beam[0].ended; ++length) {
      std::vector<esp::Task<std::vector<Hypothesis>>> tasks;
      for (const Hypothesis& each : beam) tasks.push_back(extend(g, each));
      const auto extended = co_await esp::when_all(std::move(tasks));
      std::vector<Hypothesis> all;
      for (const auto& list : extended) all.insert(all.end(), list.begin(), list.end());
      const std::size_t kept = std::min(width, all.size());
      std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                        [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
      all.resize(kept);
      beam = std::move(all);
    }
    co_return beam[0].output;
  }
};

double share_right(const std::vector<Digits>& inputs, const std::vector<Digits>& outputs) {
  double right = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) right += outputs[i] == backwards(inputs[i]) ? 1 : 0;
  return right / static_cast<double>(inputs.size());
}

}  // namespace

int main() {
  esp::Random random(1);
  const auto draw = [&] {
    Digits digits(static_cast<std::size_t>(1 + random.below(5)));
    for (std::int32_t& digit : digits) digit = static_cast<std::int32_t>(random.below(10));
    return digits;
  };
  Translator net;
  esp::optim::Adam adam(net.model, {.learning_rate = 0.005});
  for (int batch = 0; batch < 700; ++batch) {
    esp::Graph g;
    std::vector<esp::Expr> losses;
    for (int i = 0; i < 32; ++i) {
      g.begin_instance();
      losses.push_back(net.loss(g, draw()));
    }
    esp::mean(losses).backward();
    adam.step();
  }
  std::vector<Digits> inputs;
  for (int i = 0; i < 200; ++i) inputs.push_back(draw());
  esp::RunStatistics took;
  const auto greedy = esp::run_batched(inputs, [&](esp::Graph& g, const Digits& input) { return net.greedy(g, input); },
                                       {.statistics = &took});
  const auto beam = esp::run_batched(inputs, [&](esp::Graph& g, const Digits& input) { return net.beam(g, input, 4); });
  const double right_greedy = share_right(inputs, greedy);
  const double right_beam = share_right(inputs, beam);
  std::printf("right: %.2f greedy, %.2f with a beam of 4; %.1f rows per step\n", right_greedy, right_beam,
              took.graphs.rows_a_step());
  return right_greedy > 0.8 && right_beam >= right_greedy - 0.02 ? 0 : 1;
}
