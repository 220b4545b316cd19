/// Several threads compile and evaluate one block at the same time, each for data of its own type.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "espalier/nn/embedding.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

TEST(CompilingInThreads, LeavesABlockUnchanged) {
  Model model;
  const nn::Embedding table(model / "words", 2, 3);
  const Block words = map(lookup(Vocabulary({"good", "bad"})) >> embedding(table)) >> sum();
  const std::string before = words.describe();
  const Tensor expected = eval(words, std::vector<std::string>{"good", "bad"}).leaf();
  constexpr int kTimes = 20;
  std::vector<Tensor> of_strings;
  std::vector<Tensor> of_values;
  std::thread strings([&] {
    for (int i = 0; i < kTimes; ++i) of_strings.push_back(eval(words, std::vector<std::string>{"good", "bad"}).leaf());
  });
  std::thread values([&] {
    for (int i = 0; i < kTimes; ++i) of_values.push_back(eval(words, Value::list({"good", "bad"})).leaf());
  });
  strings.join();
  values.join();
  for (const Tensor& each : of_strings) EXPECT_EQ(each, expected);
  for (const Tensor& each : of_values) EXPECT_EQ(each, expected);
  EXPECT_EQ(words.describe(), before);
}

}  // namespace
}  // namespace espalier::blocks
