/// A tagger trained by the Trainer: a loss, a prediction and metrics of one's own, an observer, and an ensemble.
/// docs/your_own_data.md explains it.
#include <espalier/espalier.h>
#include <espalier/train/accuracy.h>
#include <espalier/train/ensemble.h>
#include <espalier/train/span_f1.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace esp = espalier;

namespace {

struct Sentence {
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> tags;  // 0: no name; 1: a name
};

constexpr std::int32_t kWords = 20;

/// Words from 15 on are names after word 0 ("Mr"), and nothing special elsewhere.
std::vector<Sentence> random_sentences(std::uint64_t seed, int count) {
  esp::Random random(seed);
  std::vector<Sentence> sentences(static_cast<std::size_t>(count));
  for (Sentence& sentence : sentences)
    for (std::int64_t i = 2 + random.below(8); i > 0; --i) {
      const bool after_title = !sentence.words.empty() && sentence.words.back() == 0;
      const auto word = static_cast<std::int32_t>(after_title ? 15 + random.below(5) : random.below(kWords));
      sentence.words.push_back(word);
      sentence.tags.push_back(after_title ? 1 : 0);
    }
  return sentences;
}

struct Tagger {
  explicit Tagger(std::uint64_t seed) : model(seed) {}

  esp::Model model;
  esp::nn::Embedding words{model / "words", kWords, 12};
  esp::nn::LstmCell lstm{model / "lstm", 12, 16};
  esp::nn::Linear classify{model / "classify", 16, 2};

  /// The scores of both tags for each word, [words, 2].
  esp::Expr scores(esp::Graph& g, const Sentence& sentence) const {
    auto state = lstm.initial(g);
    std::vector<esp::Expr> scores;
    for (const std::int32_t word : sentence.words) {
      state = lstm(words(g, word), state);
      scores.push_back(classify(state.h));
    }
    return esp::rows(scores);
  }
};

std::vector<esp::train::Span> spans_of(const std::vector<double>& tags) {
  std::vector<esp::train::Span> spans;
  for (std::size_t i = 0; i < tags.size(); ++i)
    if (tags[i] == 1) spans.push_back({"name", static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1});
  return spans;
}

std::vector<esp::train::Metric> measure(std::span<const esp::train::Prediction> predictions) {
  esp::train::SpanF1 f1;
  std::vector<double> expected;
  std::vector<double> predicted;
  for (const esp::train::Prediction& one : predictions) {
    f1.add(spans_of(one.expected), spans_of(one.predicted));
    expected.insert(expected.end(), one.expected.begin(), one.expected.end());
    predicted.insert(predicted.end(), one.predicted.begin(), one.predicted.end());
  }
  return {{"f1", f1.all().f1()}, {"accuracy", esp::train::accuracy(expected, predicted)}};
}

esp::train::TaskOf<Sentence> make_task(const Tagger& tagger, std::span<const Sentence> train,
                                       std::span<const Sentence> held_out) {
  return esp::train::TaskOf<Sentence>(
      {.train = train,
       .held_out = held_out,
       .output = [&tagger](esp::Graph& g, const Sentence& s) { return tagger.scores(g, s); },
       .loss = [](const esp::Expr& scores, const Sentence& s) { return esp::cross_entropy_rows(scores, s.tags); },
       .read =
           [](const esp::Tensor& scores, const Sentence& s, esp::train::Prediction& prediction) {
             const esp::Tensor best = scores.argmax(1);
             for (std::size_t i = 0; i < s.tags.size(); ++i) {
               prediction.expected.push_back(s.tags[i]);
               prediction.predicted.push_back(best.at(static_cast<std::int64_t>(i)));
             }
           },
       .measure = measure,
       .nodes = [](const Sentence& s) { return std::ssize(s.words); },
       .answers = esp::train::Answers::kClasses});
}

struct Printer : esp::train::Observer {
  void epoch_done(const esp::train::EpochSummary& epoch) override {
    std::printf("epoch %d: loss %.3f, F1 %.3f%s\n", epoch.epoch, epoch.loss, epoch.held_out[0].value,
                epoch.is_best ? ", the best so far" : "");
  }
};

}  // namespace

int main() {
  const std::vector<Sentence> train = random_sentences(1, 400);
  const std::vector<Sentence> held_out = random_sentences(2, 100);
  Printer printer;
  const esp::train::TrainerOptions options{.epochs = 8,
                                           .batch_nodes = 100,
                                           .optimizer = "adam(learning_rate=0.01, clip_norm=5)",
                                           .schedule = "cosine",
                                           .warmup = 20,
                                           .average_decay = 0.99,
                                           .patience = 3,
                                           .observers = {&printer}};
  Tagger one(1);
  Tagger other(2);
  const auto one_task = make_task(one, train, held_out);
  const auto other_task = make_task(other, train, held_out);
  esp::train::Ensemble ensemble;
  ensemble.add(one.model, one_task);
  ensemble.add(other.model, other_task);
  ensemble.train(options);
  const esp::train::Evaluation together = ensemble.evaluate(esp::train::Split::kHeldOut);
  std::printf("both together: F1 %.3f\n", together.find("f1")->value);
  return together.find("f1")->value > 0.95 ? 0 : 1;
}
