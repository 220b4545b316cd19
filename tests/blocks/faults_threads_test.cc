/// What goes wrong in the middle of a stream in threads is told once, loses nothing before it, and leaves no trace; and
/// programs that share weights run side by side.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/nn/dropout.h"
#include "espalier/nn/lstm.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

constexpr int kInstances = 200;

std::vector<Value> numbers_to(int count) {
  std::vector<Value> all;
  for (int i = 0; i < count; ++i) all.emplace_back(i);
  return all;
}

/// As many as there are, so that a stream of two threads has two on any machine.
class Faults : public ::testing::Test {
 protected:
  Faults() : before_(thread_count()) { set_thread_count(2); }
  ~Faults() override { set_thread_count(before_); }

 private:
  int before_;
};

TEST_F(Faults, OfAFunctionComeAfterAllBatchesBefore) {
  std::atomic<int> calls = 0;
  const Program program = Program::of<Value>(named("parse", input_transform([&](int x) {
                                                     ++calls;
                                                     if (x == 107 || x == 117) throw std::out_of_range("too large");
                                                     return x;
                                                   })) >>
                                             scalar());
  const std::vector<Value> inputs = numbers_to(kInstances);
  for (const int threads : {1, 2, 2, 1}) {
    int seen = 0;
    EXPECT_EQ(testing::refusal_of([&] {
                for (const Result& result : stream(program, inputs, {.batch = 5, .threads = threads}))
                  EXPECT_EQ(result.item(), seen++);
              }),
              "input_transform(): the function throws: too large\n  in parse\n  in instance 107");
    EXPECT_EQ(seen, 105) << "batches of 5: the first that fails begins with 105";
  }
  EXPECT_GE(calls, 4 * 108);
}

TEST_F(Faults, OfAnyTypePassThrough) {
  const Program program = Program::of<Value>(input_transform([](int x) {
                                               if (x == 33) throw x;
                                               return x;
                                             }) >>
                                             scalar());
  const std::vector<Value> inputs = numbers_to(50);
  int seen = 0;
  try {
    for (const Result& result : stream(program, inputs, {.batch = 4, .threads = 2})) EXPECT_EQ(result.item(), seen++);
    FAIL() << "nothing is thrown";
  } catch (int x) {
    EXPECT_EQ(x, 33);
  }
  EXPECT_EQ(seen, 32);
}

TEST_F(Faults, LeaveGradientsAsTheyWere) {
  Model model;
  Parameter& factor = model.add("factor", Shape{}, init::constant(1));
  bool broken = true;
  const auto times = [&broken](Expr a, Expr b, int x) {
    if (broken && x == 30) throw std::runtime_error("broken");
    return a * b;
  };
  const Program program(all_of({scalar(), factor, identity()}) >> function(times) >> loss("all"));
  const std::vector<Value> inputs = numbers_to(41);
  Gradients gradients;
  const StreamOptions options{.batch = 4, .threads = 2, .graph = {}};
  EXPECT_THROW(add_gradients(program, inputs, gradients, options), DataError);
  EXPECT_TRUE(gradients.all().empty());
  broken = false;
  EXPECT_NEAR(add_gradients(program, inputs, gradients, options), 20, 1e-4);
  EXPECT_NEAR(gradients.find(factor)->values().at(0), 20, 1e-4);
}

TEST_F(Faults, LeaveNoTraceInTheProgram) {
  std::atomic<bool> broken = true;
  const Program program = Program::of<Value>(input_transform([&](int x) {
                                               if (broken && x == 9) throw std::runtime_error("broken");
                                               return x;
                                             }) >>
                                             scalar());
  const std::vector<Value> inputs = numbers_to(20);
  EXPECT_THROW(
      {
        for (const Result& result : stream(program, inputs, {.batch = 2, .threads = 2})) static_cast<void>(result);
      },
      DataError);
  broken = false;
  int seen = 0;
  for (const Result& result : stream(program, inputs, {.batch = 2, .threads = 2})) EXPECT_EQ(result.item(), seen++);
  EXPECT_EQ(seen, 20);
}

struct FaultyNet {
  Model model;
  nn::LstmCell lstm{model / "lstm", 1, 4};
  Block states() const { return map(vector(1)) >> rnn(lstm) >> get(1) >> get(0); }
};

TEST(SharedWeights, ServeTwoProgramsInTwoThreads) {
  const FaultyNet net;
  const Program plain(net.states());
  const Program dropped(net.states() >> nn::Dropout(0.5) >> [](Expr h) { return sum(h, 0); } >> loss("all"));
  std::vector<Value> inputs;
  for (int i = 0; i < 60; ++i) inputs.push_back(Value::list(std::vector<Value>(i % 7, Value::list({0.1 * i}))));
  const auto of_plain = [&] {
    std::string text;
    for (const Result& result : stream(plain, inputs, {.batch = 8})) text += to_value(result).to_text();
    return text;
  };
  const auto of_dropped = [&] {
    Gradients gradients;
    std::string text =
        std::to_string(add_gradients(dropped, inputs, gradients, {.batch = 8, .graph = {.seed = 2, .step = 1}}));
    for (const Gradient* gradient : gradients.all()) text += gradient->to_tensor().to_string();
    return text;
  };
  const std::string plain_alone = of_plain();
  const std::string dropped_alone = of_dropped();
  std::string plain_beside;
  std::string dropped_beside;
  std::thread first([&] {
    for (int i = 0; i < 5; ++i) plain_beside = of_plain();
  });
  std::thread second([&] {
    for (int i = 0; i < 5; ++i) dropped_beside = of_dropped();
  });
  first.join();
  second.join();
  EXPECT_EQ(plain_beside, plain_alone);
  EXPECT_EQ(dropped_beside, dropped_alone);
}

TEST(SharedWeights, ServeOneProgramInSeveralThreads) {
  const FaultyNet net;
  const Program program(net.states());
  const Value input = Value::list({Value::list({1}), Value::list({-2})});
  const std::string alone = to_value(program.eval(input)).to_text();
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int time = 0; time < 20; ++time)
        if (to_value(program.eval(input)).to_text() == alone) ++equal;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 80);
}

}  // namespace
}  // namespace espalier::blocks
