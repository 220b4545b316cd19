/// Whether two variants of a workload compute the same: losses, outputs, all gradients, and losses after training.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/suite/workload.h"
#include "espalier/base/threads.h"

namespace espalier::bench {

inline void expect_close(double expected, double actual, const std::string& what) {
  EXPECT_NEAR(expected, actual, 1e-4 * std::max(1.0, std::abs(expected))) << what;
}

/// Gradients by parameter, each within 1e-4 of its largest magnitude.
inline void expect_same_gradients(Runner& expected, Runner& actual, std::span<const std::int32_t> batch) {
  const std::vector<Runner::Gradient> right = expected.gradients(batch);
  const std::vector<Runner::Gradient> found = actual.gradients(batch);
  ASSERT_EQ(right.size(), found.size());
  for (std::size_t p = 0; p < right.size(); ++p) {
    EXPECT_EQ(right[p].name, found[p].name);
    ASSERT_EQ(right[p].values.size(), found[p].values.size()) << right[p].name;
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < right[p].values.size(); ++i) {
      largest = std::max(largest, std::abs(double{right[p].values[i]}));
      difference = std::max(difference, std::abs(double{right[p].values[i]} - double{found[p].values[i]}));
    }
    EXPECT_LE(difference, 1e-4 * largest) << "gradient of " << right[p].name;
  }
}

/// A variant against Espalier with cells, on a batch of all instances, on the first one alone, and on all but it.
inline void expect_variant_agrees(const Workload& workload, Variant variant, Leaves leaves) {
  SCOPED_TRACE(::testing::Message() << "variant " << static_cast<int>(variant) << ", leaves "
                                    << static_cast<int>(leaves));
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; i < workload.instances(); ++i) all.push_back(i);
  const std::span<const std::int32_t> batch(all);
  const std::unique_ptr<Runner> other = workload.make(variant, leaves);
  const std::unique_ptr<Runner> cells = workload.make(Variant::kCells, leaves);
  for (const auto& part : {batch, batch.first(1), batch.subspan(1)}) {
    if (part.empty()) continue;
    expect_same_gradients(*cells, *other, part);
    expect_close(cells->infer(part).loss, other->infer(part).loss, "outputs");
  }
  for (int step = 0; step < 3; ++step)
    expect_close(cells->train(batch).loss, other->train(batch).loss, "loss of step " + std::to_string(step));
  expect_close(cells->train(batch.first(1)).loss, other->train(batch.first(1)).loss, "loss of one instance");
  expect_close(cells->infer(batch).loss, other->infer(batch).loss, "outputs after training");
  expect_same_gradients(*cells, *other, batch);
}

/// The limit, and the structure as data where the workload has it that way too.
inline void expect_limit_agrees(const Workload& workload) {
  for (const int threads : {1, 2}) {
    SCOPED_TRACE(::testing::Message() << threads << " threads");
    set_thread_count(threads);
    for (const Variant variant : {Variant::kLimit, Variant::kLimitDedupe})
      for (const Leaves leaves : {Leaves::kOnce, Leaves::kEach}) expect_variant_agrees(workload, variant, leaves);
    if (workload.make(Variant::kRecursion, Leaves::kEach) != nullptr)
      for (const Leaves leaves : {Leaves::kEach, Leaves::kOnce})
        expect_variant_agrees(workload, Variant::kRecursion, leaves);
  }
  set_thread_count(1);
}

}  // namespace espalier::bench
