#include "bench/workloads/tagger.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "tests/bench/agreement.h"

namespace espalier::bench {
namespace {

std::shared_ptr<const DataSet<TaggedSentence>> random_sentences(const std::vector<int>& lengths) {
  std::mt19937 random(5);
  auto data = std::make_shared<DataSet<TaggedSentence>>();
  data->words = 30;
  data->labels = 17;
  for (const int length : lengths) {
    TaggedSentence sentence;
    for (int t = 0; t < length; ++t) {
      sentence.words.push_back(static_cast<std::int32_t>(random() % 30));
      sentence.tags.push_back(static_cast<std::int32_t>(random() % 17));
    }
    data->instances.push_back(sentence);
  }
  return data;
}

TEST(TaggerLimit, ComputesWhatEspalierComputes) {
  expect_limit_agrees(*tagger_workload(random_sentences({3, 8, 1, 20, 8, 5, 40}), {.embedding = 12, .hidden = 9}));
}

TEST(TaggerLimit, ComputesTheSameWithWeightsLaidOut) {
  expect_limit_agrees(*tagger_workload(random_sentences({12, 8, 1, 40}), {.embedding = 65, .hidden = 64}));
}

TEST(TaggerLimit, ComputesSentencesOfOneWord) {
  expect_limit_agrees(*tagger_workload(random_sentences({1, 1, 1}), {.embedding = 5, .hidden = 4}));
}

}  // namespace
}  // namespace espalier::bench
