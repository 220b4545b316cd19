/// A small network and a task for tests of the Trainer: sequences of numbers of words, in two classes.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/nn/dropout.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/train/task_of.h"
#include "espalier/train/trainer.h"

namespace espalier::train {

struct Sentence {
  std::vector<std::int32_t> words;
  std::int64_t label = 0;
};

inline constexpr std::int32_t kSmallWords = 12;

/// The label is whether more words come from the first half of the vocabulary than from the second.
inline std::vector<Sentence> sentences(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Sentence> result;
  for (std::int64_t i = 0; i < count; ++i) {
    Sentence sentence;
    std::int64_t low = 0;
    const std::int64_t length = 1 + 2 * random.below(4);  // odd: no draws
    for (std::int64_t w = 0; w < length; ++w) {
      sentence.words.push_back(static_cast<std::int32_t>(random.below(kSmallWords)));
      low += sentence.words.back() < kSmallWords / 2 ? 1 : 0;
    }
    sentence.label = 2 * low > length ? 1 : 0;
    result.push_back(std::move(sentence));
  }
  return result;
}

struct SmallNet {
  explicit SmallNet(double dropout_rate = 0, std::uint64_t seed = 1) : model(seed), dropout(dropout_rate) {}

  Expr scores(Graph& graph, const Sentence& sentence) const {
    std::vector<Expr> words_in;
    for (const std::int32_t word : sentence.words) words_in.push_back(tanh(hidden(dropout(words(graph, word)))));
    return classify(sum(words_in));
  }

  Model model;
  nn::Dropout dropout;
  nn::Embedding words{model / "words", kSmallWords, 6};
  nn::Linear hidden{model / "hidden", 6, 5};
  nn::Linear classify{model / "classify", 5, 2};
};

inline TaskParts<Sentence> small_parts(const SmallNet& net, const std::vector<Sentence>& training,
                                       const std::vector<Sentence>& held_out) {
  return {.train = training,
          .held_out = held_out,
          .output = [&net](Graph& graph, const Sentence& sentence) { return net.scores(graph, sentence); },
          .label = [](const Sentence& sentence) { return sentence.label; },
          .nodes = [](const Sentence& sentence) { return std::ssize(sentence.words); },
          .classes = {"high", "low"}};
}

/// All numbers of a model's parameters.
inline std::vector<Tensor> weights_of(const Model& model) {
  std::vector<Tensor> result;
  for (const Parameter* parameter : model.parameters()) result.push_back(parameter->value());
  return result;
}

/// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() { std::filesystem::create_directories(path_); }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  static std::string unused_name() {
    static int number = 0;
    return "espalier-train-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
  }
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / unused_name();
};

}  // namespace espalier::train
