/// Tasks with several threads: lanes, lanes of training, and instances submitted to a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "espalier/control/batch_server.h"
#include "tests/control/decoder.h"

namespace espalier {
namespace {

using testing::Decoder;
using testing::Start;
using testing::starts;
using Symbols = std::vector<std::int64_t>;

TEST(ControlThreads, LanesDecideAlike) {
  const Decoder decoder;
  const std::vector<Start> inputs = starts(60);
  const auto draw = [&](Graph& g, const Start& start) { return decoder.draw(g, start); };
  const auto one = run_batched(inputs, draw);
  RunStatistics took;
  EXPECT_EQ(run_batched(inputs, draw, {.lanes = 3, .statistics = &took}), one);
  EXPECT_EQ(took.instances, 60);
  EXPECT_EQ(run_batched(std::vector<Start>{inputs[0]}, draw, {.lanes = 3})[0], one[0]);
}

TEST(ControlThreads, StreamsFeedAllLanes) {
  const Decoder decoder;
  const std::vector<Start> inputs = starts(200);
  const auto one = run_batched(inputs, [&](Graph& g, const Start& start) { return decoder.draw(g, start); });
  std::size_t next = 0;
  std::vector<Symbols> made(inputs.size());
  stream_batched(
      [&]() -> std::optional<Start> {
        if (next == inputs.size()) return std::nullopt;
        return inputs[next++];
      },
      [&](Graph& g, const Start& start) { return decoder.draw(g, start); },
      [&](std::int64_t number, Outcome<Symbols> outcome) {
        made[static_cast<std::size_t>(number)] = std::move(outcome).value();
      },
      {.in_flight = 8, .lanes = 3});
  EXPECT_EQ(made, one);
}

TEST(ControlThreads, AnErrorInALaneEndsTheRun) {
  const auto fails = [](Graph& g, int i) -> Task<double> {
    const double x = co_await number(g.constant(i) + g.constant(0));
    if (i == 7) throw DataError("the eighth");
    co_return x;
  };
  const std::vector<int> inputs{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THROW(run_batched(inputs, fails, {.lanes = 2}), InstanceError);
}

TEST(ControlThreads, ServedInstancesOfSeveralThreadsRunTogether) {
  const Decoder decoder;
  const std::vector<Start> inputs(24, {1, 9});
  const auto expected = run_batched(inputs, [&](Graph& g, const Start& start) { return decoder.decode(g, start); });
  RunStatistics took;
  {
    // Nothing runs before all are there, however long that takes.
    BatchServer<Start, Symbols> server(
        [&](Graph& g, const Start& start) { return decoder.decode(g, start); },
        {.run = {.in_flight = 24, .statistics = &took}, .longest_wait = std::chrono::hours(1)});
    std::vector<std::thread> clients;
    std::atomic<int> right = 0;
    for (int c = 0; c < 24; ++c)
      clients.emplace_back([&, c] {
        right += server.submit(inputs[static_cast<std::size_t>(c)]).get() == expected[static_cast<std::size_t>(c)];
      });
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(right, 24);
  }
  EXPECT_EQ(took.most_in_flight, 24);
  EXPECT_EQ(took.values, 24 * took.runs);
}

TEST(ControlThreads, AServedInstanceDoesNotWaitForCompanyForever) {
  const Decoder decoder;
  BatchServer<Start, Symbols> server([&](Graph& g, const Start& start) { return decoder.decode(g, start); },
                                     {.longest_wait = std::chrono::microseconds(10)});
  EXPECT_FALSE(server.submit({1, 4}).get().empty());
  EXPECT_FALSE(server.submit({2, 4}).get().empty());
}

TEST(ControlThreads, AServerRefusesOptionsThatMakeNoSense) {
  const auto give = [](Graph& g, int x) -> Task<double> { co_return co_await number(g.constant(x) + g.constant(1)); };
  using Server = BatchServer<int, double>;
  EXPECT_THROW(Server(give, {.run = {.in_flight = 0}}), UsageError);
}

TEST(ControlThreads, AServerOutlivesInstancesThatFail) {
  BatchServer<int, int> server(
      [](Graph& g, int x) -> Task<int> {
        if (x < 0) throw DataError("below zero");
        co_return static_cast<int>(co_await number(g.constant(x) + g.constant(1)));
      },
      {.longest_wait = std::chrono::microseconds(1)});
  EXPECT_THROW(server.submit(-1).get(), InstanceError);
  EXPECT_EQ(server.submit(4).get(), 5);
  server.close();
  EXPECT_THROW(static_cast<void>(server.submit(1)), UsageError);
}

TEST(ControlThreads, ACancelledServerEndsItsInstances) {
  const Decoder decoder;
  BatchServer<Start, Symbols> server([&](Graph& g, const Start& start) { return decoder.draw(g, start); },
                                     {.run = {.in_flight = 1}, .longest_wait = std::chrono::hours(1)});
  std::future<Symbols> endless = server.submit({1, 1'000'000'000});
  std::future<Symbols> never_begun = server.submit({1, 1'000'000'000});
  server.cancel();
  EXPECT_THROW(static_cast<void>(endless.get()), RunEnded);
  EXPECT_THROW(static_cast<void>(never_begun.get()), RunEnded);
}

}  // namespace
}  // namespace espalier
