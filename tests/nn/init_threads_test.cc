/// Initial values are drawn by all threads, and are those of one thread that draws them in turn.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/nn/init.h"
#include "tests/support/threads.h"

namespace espalier {
namespace {

struct Drawn {
  const char* name;
  init::Initializer initializer;
  std::function<double(Random&)> in_turn;
};

double draw_truncated(Random& random) {
  double drawn = random.normal();
  while (std::abs(drawn) > 2) drawn = random.normal();
  return 1 + 0.5 * drawn;
}

TEST(InitThreads, DrawTheNumbersOfOneStreamInTurn) {
  const Shape shape{1000, 131};  // no multiple of the parts of a loop
  const double fan_in = 1000;
  const double glorot = std::sqrt(6.0 / (1000 + 131));
  const std::vector<Drawn> all{
      {"uniform", init::uniform(-1, 3), [](Random& random) { return random.uniform(-1, 3); }},
      {"normal", init::normal(1, 0.5), [](Random& random) { return 1 + 0.5 * random.normal(); }},
      {"glorot", init::glorot(), [&](Random& random) { return random.uniform(-glorot, glorot); }},
      {"he", init::he(), [&](Random& random) { return std::sqrt(2.0 / fan_in) * random.normal(); }},
      {"truncated", init::truncated_normal(1, 0.5), draw_truncated},
  };
  for (const Drawn& drawn : all) {
    Tensor expected(shape);
    Random in_turn(7, 3);
    in_turn.next();  // they may begin anywhere in their stream
    for (float& element : expected.as<float>()) element = static_cast<float>(drawn.in_turn(in_turn));
    for (const int threads : {1, 2, 5}) {
      const testing::Threads count(threads);
      Tensor value(shape);
      Random random(7, 3);
      random.next();
      drawn.initializer(value, random);
      EXPECT_EQ(value, expected) << drawn.name << ", " << threads << " threads";
      EXPECT_EQ(random.state(), in_turn.state()) << drawn.name << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace espalier
