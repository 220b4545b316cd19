/// Fizzbuzz, learned: a number is read as its decimal digits, one state folded through all of them. It is trained on
/// numbers from 101 on, and then counts from 1 to 100.
#include <espalier/espalier.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

enum Answer : std::int32_t { kNumber, kFizz, kBuzz, kFizzbuzz, kAnswers };

Answer answer_to(std::int64_t number) {
  return static_cast<Answer>((number % 3 == 0 ? kFizz : 0) + (number % 5 == 0 ? kBuzz : 0));
}

/// The digits, the last one first.
std::vector<std::int64_t> digits_of(std::int64_t number) {
  std::vector<std::int64_t> digits;
  for (; number > 0; number /= 10) digits.push_back(number % 10);
  return digits;
}

}  // namespace

int main() {
  esp::Model model;
  const esp::nn::GruCell cell(model / "cell", 10, 32);
  const esp::nn::Linear classify(model / "classify", 32, kAnswers);
  const b::Block scores =
      b::input_transform(digits_of) >> b::map(b::one_hot(0, 10)) >> b::rnn(cell) >> b::get(1) >> classify;
  const b::Program answers = b::Program::of<std::int64_t>(scores);
  const b::Program losses = b::Program::of<std::int64_t>(b::all_of({scores, b::input_transform(answer_to)}) >>
                                                         esp::cross_entropy >> b::loss("answer"));

  esp::Random random(3);
  esp::optim::Adam adam(model, {.learning_rate = 5e-3});
  for (int step = 0; step < 1500; ++step) {
    std::vector<std::int64_t> numbers(64);
    for (std::int64_t& number : numbers) number = 101 + random.below(9899);
    esp::Graph g;
    losses.loss(g, numbers).backward();
    adam.step();
  }

  std::vector<std::int64_t> first(100);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::int64_t>(i) + 1;
  int right = 0;
  std::int64_t number = 0;
  for (const b::Result& result : b::stream(answers, first)) {
    ++number;
    const auto of_number = result.leaf().as<float>();
    const auto answer = std::ranges::max_element(of_number) - of_number.begin();
    const std::vector<std::string> words{std::to_string(number), "fizz", "buzz", "fizzbuzz"};
    if (number <= 20) std::printf("%s ", words[static_cast<std::size_t>(answer)].c_str());
    right += answer == answer_to(number) ? 1 : 0;
  }
  std::printf("...\n%d of 100 right\n", right);
  return right >= 98 ? 0 : 1;
}
