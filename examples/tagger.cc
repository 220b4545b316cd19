/// A tagger: a label for every word of a sentence, by a bidirectional LSTM. The page docs/howto/tagger.md explains it.
#include <espalier/espalier.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace esp = espalier;

namespace {

struct Sentence {
  std::vector<std::string> words;
  std::vector<std::int32_t> tags;
};

const std::vector<std::string> kTags{"determiner", "noun", "verb", "adverb"};

/// Words of a tiny English. "walks", "runs" and "plans" are nouns or verbs: only their place in the sentence tells.
Sentence random_sentence(esp::Random& random) {
  const auto one_of = [&](const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(random.below(std::ssize(words)))];
  };
  Sentence sentence;
  const auto add = [&](std::int32_t tag, const std::string& word) {
    sentence.words.push_back(word);
    sentence.tags.push_back(tag);
  };
  const auto noun_phrase = [&] {
    if (random.below(3) != 0) add(0, one_of({"the", "a", "every"}));
    add(1, one_of({"dog", "plan", "walks", "runs", "plans", "city", "river"}));
  };
  noun_phrase();
  if (random.below(2) == 0) add(3, one_of({"often", "never", "slowly"}));
  add(2, one_of({"walks", "runs", "plans", "sees", "likes"}));
  if (random.below(2) == 0) noun_phrase();
  if (random.below(3) == 0) add(3, one_of({"often", "slowly", "today"}));
  return sentence;
}

std::vector<Sentence> random_sentences(std::uint64_t seed, int count) {
  esp::Random random(seed);
  std::vector<Sentence> sentences;
  for (int i = 0; i < count; ++i) sentences.push_back(random_sentence(random));
  return sentences;
}

/// Numbers the words of the training set; 0 is any other word.
struct Vocabulary {
  std::map<std::string, std::int32_t> numbers;

  explicit Vocabulary(const std::vector<Sentence>& sentences) {
    for (const Sentence& sentence : sentences)
      for (const std::string& word : sentence.words)
        numbers.try_emplace(word, static_cast<std::int32_t>(numbers.size()) + 1);
  }
  std::vector<std::int32_t> ids(const Sentence& sentence) const {
    std::vector<std::int32_t> ids;
    for (const std::string& word : sentence.words) {
      const auto found = numbers.find(word);
      ids.push_back(found == numbers.end() ? 0 : found->second);
    }
    return ids;
  }
  std::int32_t size() const { return static_cast<std::int32_t>(numbers.size()) + 1; }
};

struct Tagger {
  explicit Tagger(const Vocabulary& vocabulary) : words(model / "words", vocabulary.size(), 16) {}

  esp::Model model;
  esp::nn::Embedding words;
  esp::nn::BiLstm lstm{model / "lstm", 16, 16};
  esp::nn::Dropout dropout{0.2};
  esp::nn::Linear classify{model / "classify", 32, static_cast<std::int32_t>(kTags.size())};

  // A sentence is one node with a row per word. The result has a row of scores per word.
  esp::Expr scores(esp::Graph& g, const std::vector<std::int32_t>& sentence) const {
    return classify(dropout(lstm.rows(words.rows(g, sentence))));
  }
};

/// The share of words that get the right tag.
double accuracy(const Tagger& tagger, const Vocabulary& vocabulary, const std::vector<Sentence>& sentences) {
  esp::Graph g({.training = false});
  std::vector<esp::Expr> scores;
  for (const Sentence& sentence : sentences) {
    g.begin_instance();
    scores.push_back(tagger.scores(g, vocabulary.ids(sentence)));
  }
  g.finish(scores);
  double right = 0;
  double words = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const esp::Tensor found = scores[i].value().argmax(1);
    for (std::size_t t = 0; t < sentences[i].tags.size(); ++t, ++words)
      right += found.at(static_cast<std::int64_t>(t)) == sentences[i].tags[t] ? 1 : 0;
  }
  return right / words;
}

void print_tags(const Tagger& tagger, const Vocabulary& vocabulary, const std::vector<std::string>& words) {
  esp::Graph g({.training = false});
  const esp::Tensor found = tagger.scores(g, vocabulary.ids({words, {}})).value().argmax(1);
  for (std::size_t t = 0; t < words.size(); ++t) {
    const auto tag = static_cast<std::size_t>(found.at(static_cast<std::int64_t>(t)));
    std::printf("  %-8s %s\n", words[t].c_str(), kTags[tag].c_str());
  }
}

}  // namespace

int main() {
  const std::vector<Sentence> train = random_sentences(1, 1000);
  const std::vector<Sentence> held_out = random_sentences(2, 300);
  const Vocabulary vocabulary(train);
  Tagger tagger(vocabulary);
  const auto optimizer = esp::optim::parse(tagger.model, "adam(lr=0.01, clip_norm=5)");
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (const auto& batch : esp::batches(train, 32, {.seed = 3, .epoch = epoch})) {
      esp::Graph g;
      std::vector<esp::Expr> losses;
      for (const Sentence& sentence : batch) {
        g.begin_instance();
        losses.push_back(esp::cross_entropy_rows(tagger.scores(g, vocabulary.ids(sentence)), sentence.tags));
      }
      esp::mean(losses).backward();
      optimizer->step();
    }
    std::printf("epoch %d: %.1f %% of held-out words are right\n", epoch + 1,
                100 * accuracy(tagger, vocabulary, held_out));
  }
  print_tags(tagger, vocabulary, {"the", "runs", "never", "plans", "walks"});
  if (accuracy(tagger, vocabulary, held_out) > 0.95) return 0;
  std::puts("more than 95 % are expected");
  return 1;
}
