/// Which language a sentence is in: a recurrent cell over the letters of each word, and another over the words. The
/// languages are made up: each has its own syllables, of the same letters.
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

constexpr std::int32_t kLanguages = 6;
constexpr std::string_view kConsonants = "bdfglmnprst";
constexpr std::string_view kVowels = "aeiou";

struct Sentence {
  std::vector<std::string> words;
  std::int32_t language = 0;
};

char letter_of(esp::Random& random, std::string_view letters) {
  return letters[static_cast<std::size_t>(random.below(std::ssize(letters)))];
}

using Language = std::array<std::string, 20>;

/// A language's syllables. All languages draw theirs from the same ones, so that many are in several.
Language make_language(esp::Random random) {
  Language syllables;
  for (std::string& syllable : syllables) syllable = {letter_of(random, kConsonants), letter_of(random, kVowels)};
  return syllables;
}

std::vector<Sentence> sentences(esp::Random& random, int count) {
  std::vector<Language> languages;
  for (std::uint64_t i = 0; i < kLanguages; ++i) languages.push_back(make_language(esp::Random(5, i)));
  std::vector<Sentence> result(static_cast<std::size_t>(count));
  for (Sentence& sentence : result) {
    sentence.language = static_cast<std::int32_t>(random.below(kLanguages));
    const Language& language = languages[static_cast<std::size_t>(sentence.language)];
    sentence.words.resize(2 + static_cast<std::size_t>(random.below(6)));
    for (std::string& word : sentence.words)
      for (std::int64_t syllables = 1 + random.below(3); syllables > 0; --syllables)
        word += language[static_cast<std::size_t>(random.below(std::ssize(language)))];
  }
  return result;
}

double share_right(const b::Program& program, const std::vector<Sentence>& set) {
  double right = 0;
  std::size_t i = 0;
  for (const b::Result& result : b::stream(program, set)) {
    const auto scores = result.leaf().as<float>();
    right += std::ranges::max_element(scores) - scores.begin() == set[i++].language ? 1 : 0;
  }
  return right / static_cast<double>(set.size());
}

}  // namespace

int main() {
  esp::Model model;
  const esp::nn::Embedding table(model / "letters", 26, 12);
  const esp::nn::GruCell over_letters(model / "over_letters", 12, 24);
  const esp::nn::GruCell over_words(model / "over_words", 24, 24);
  const esp::nn::Linear classify(model / "classify", 24, kLanguages);

  const auto letters = [](std::string_view word) {
    std::vector<int> numbers;
    for (const char letter : word) numbers.push_back(letter - 'a');
    return numbers;
  };
  const auto last_state = [](const esp::nn::GruCell& cell) { return b::rnn(cell) >> b::get(1); };
  const b::Block word = b::input_transform(letters) >> b::map(b::embedding(table)) >> last_state(over_letters);
  const b::Block scores = b::get(&Sentence::words) >> b::map(word) >> last_state(over_words) >> classify;
  const b::Program answers(scores);
  const b::Program losses(b::all_of({scores, b::get(&Sentence::language)}) >> esp::cross_entropy >>
                          b::loss("language"));

  esp::Random random(6);
  const std::vector<Sentence> held_out = sentences(random, 400);
  std::printf("before: %5.1f %% of sentences right\n", 100 * share_right(answers, held_out));
  esp::optim::Adam adam(model, {.learning_rate = 5e-3});
  for (int step = 0; step < 400; ++step) {
    esp::Graph g;
    losses.loss(g, sentences(random, 32)).backward();
    adam.step();
  }
  const double right = share_right(answers, held_out);
  std::printf("after:  %5.1f %%; \"%s %s ...\" is language %d\n", 100 * right, held_out[0].words[0].c_str(),
              held_out[0].words[1].c_str(), held_out[0].language);
  if (right > 0.9) return 0;
  std::puts("more than 90 % are expected");
  return 1;
}
