/// Values shared between threads.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "espalier/data/value.h"

namespace espalier {
namespace {

TEST(ValueThreads, CopyAndLetGoOfOnePayload) {
  Value shared = Value::map({{"words", Value::list({"a", "b", "c"})}, {"label", 3}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([value = shared] {
      for (int i = 0; i < 1000; ++i) {
        const Value words = value.at("words");
        const Value pair = Value::list({words, value});
        EXPECT_EQ(pair[0][1].as_string(), "b");
      }
    });
  }
  shared = nullptr;  // the threads are then the only holders; the last of them destroys it
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace espalier
