/// An LSTM over letters in an LSTM over words in an LSTM over sentences: one line of blocks a level. It reads short
/// weather reports and says whether the weather gets better, worse, or neither.
#include <espalier/blocks.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

using Sentence = std::vector<std::string>;

enum Trend : std::int32_t { kWorse, kSame, kBetter, kTrends };

struct Report {
  std::vector<Sentence> sentences;
  std::int32_t trend = 0;
};

std::string one_of(esp::Random& random, const std::vector<std::string>& words) {
  return words[static_cast<std::size_t>(random.below(std::ssize(words)))];
}

/// From 0, bad, to 2, good.
Sentence sentence_on(esp::Random& random, std::size_t weather) {
  static const std::array<std::vector<std::string>, 3> kWeather{
      {{"stormy", "rainy", "freezing"}, {"cloudy", "grey", "mild"}, {"sunny", "warm", "bright"}}};
  Sentence sentence{one_of(random, {"the", "our"}), one_of(random, {"morning", "evening", "weekend"}), "was"};
  if (random.below(2) == 0) sentence.push_back(one_of(random, {"rather", "quite", "so"}));
  sentence.push_back(one_of(random, kWeather[weather]));
  return sentence;
}

/// The trend is from the first sentence to the last; what is between does not count.
std::vector<Report> reports(esp::Random& random, int count) {
  std::vector<Report> result(static_cast<std::size_t>(count));
  for (Report& report : result) {
    std::vector<std::int64_t> weather(2 + static_cast<std::size_t>(random.below(3)));
    for (std::int64_t& w : weather) {
      w = random.below(3);
      report.sentences.push_back(sentence_on(random, static_cast<std::size_t>(w)));
    }
    report.trend = weather.back() > weather.front() ? kBetter : weather.back() < weather.front() ? kWorse : kSame;
  }
  return result;
}

double share_right(const b::Program& program, const std::vector<Report>& set) {
  double right = 0;
  std::size_t i = 0;
  for (const b::Result& result : b::stream(program, set)) {
    const auto scores = result.leaf().as<float>();
    right += std::ranges::max_element(scores) - scores.begin() == set[i++].trend ? 1 : 0;
  }
  return right / static_cast<double>(set.size());
}

}  // namespace

int main() {
  esp::Model model;
  const esp::nn::Embedding letters(model / "letters", 26, 8);
  // A sequence as its last output: item 1 of rnn() is the last state, whose item 0 is h.
  const auto last = [](const esp::nn::LstmCell& cell) { return b::rnn(cell) >> b::get(1) >> b::get(0); };
  const auto spell = [](std::string_view word) {
    std::vector<int> numbers;
    for (const char letter : word) numbers.push_back(letter - 'a');
    return numbers;
  };
  const b::Block word =
      b::input_transform(spell) >> b::map(b::embedding(letters)) >> last({model / "letters_in_word", 8, 16});
  const b::Block sentence = b::map(word) >> last({model / "words_in_sentence", 16, 24});
  const b::Block report = b::map(sentence) >> last({model / "sentences_in_report", 24, 24});
  const b::Block scores = b::get(&Report::sentences) >> report >> esp::nn::Linear(model / "classify", 24, kTrends);
  const b::Program answers(scores);
  const b::Program losses(b::all_of({scores, b::get(&Report::trend)}) >> esp::cross_entropy >> b::loss("trend"));

  esp::Random random(8);
  const std::vector<Report> held_out = reports(random, 400);
  std::printf("before: %5.1f %% of reports right\n", 100 * share_right(answers, held_out));
  esp::optim::Adam adam(model, {.learning_rate = 5e-3});
  for (int step = 0; step < 300; ++step) {
    esp::Graph g;
    losses.loss(g, reports(random, 32)).backward();
    adam.step();
  }
  const double right = share_right(answers, held_out);
  std::printf("after:  %5.1f %%\n", 100 * right);
  if (right > 0.95) return 0;
  std::puts("more than 95 % are expected");
  return 1;
}
