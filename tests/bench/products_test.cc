/// Products as they run, against the same ones alone: that all are seen, and that the shares of time add up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "bench/suite/alone.h"
#include "bench/suite/measure.h"
#include "bench/workloads/tree_lstm.h"
#include "espalier/base/threads.h"
#include "espalier/ops/product_log.h"
#include "tests/bench/random_trees.h"

namespace espalier::bench {
namespace {

using ops::Product;
using ops::ProductKind;
using ops::ProductLog;
using ::testing::SizeIs;

class Products : public ::testing::Test {
 protected:
  ~Products() override { set_thread_count(threads_); }

  Records measure_cells(const Setting& setting) const {
    const std::unique_ptr<Workload> workload = tree_lstm_workload(random_trees(40, 5), {.embedding = 24, .hidden = 20});
    std::vector<Contender> contenders;
    contenders.push_back({Variant::kCells, Leaves::kEach, workload->make(Variant::kCells, Leaves::kEach)});
    contenders.push_back({Variant::kLimit, Leaves::kEach, workload->make(Variant::kLimit, Leaves::kEach)});
    return measure(*workload, contenders, setting, {.seconds = 0.1, .least_rounds = 2, .most_rounds = 2}).records;
  }

 private:
  int threads_ = thread_count();
};

TEST_F(Products, OfCellsAreComparedWithTheSameAlone) {
  const Records records = measure_cells({.batch = 4, .products = true});
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_FALSE(records[1].products.has_value());
  ASSERT_TRUE(records[0].products.has_value());
  const ProductFigures& products = *records[0].products;
  double of_kinds = 0;
  for (const ProductFigures::Kind& kind : products.kinds) {
    EXPECT_GT(kind.calls, 0) << kind.name;
    of_kinds += kind.share;
  }
  EXPECT_THAT(products.kinds, SizeIs(::testing::Ge(3U)));
  const ProductFigures::Shares& shares = products.shares;
  EXPECT_NEAR(of_kinds, shares.products, 1e-9);
  EXPECT_NEAR(shares.products + shares.preparing + shares.recording + shares.scheduling + shares.planning +
                  shares.copying + shares.maps + shares.update + shares.other,
              1, 1e-9);
}

TEST_F(Products, OfInferenceAreForwardOnly) {
  const Records records = measure_cells({.batch = 4, .mode = Mode::kInfer, .products = true});
  ASSERT_TRUE(records[0].products.has_value());
  for (const ProductFigures::Kind& kind : records[0].products->kinds)
    EXPECT_THAT(kind.name, ::testing::StartsWith("forward"));
}

TEST_F(Products, AreTimedAloneOnlyWhereAskedForAndWithOneThread) {
  EXPECT_FALSE(measure_cells({.batch = 4})[0].products.has_value());
  EXPECT_FALSE(measure_cells({.batch = 4, .threads = 2, .products = true})[0].products.has_value());
}

TEST_F(Products, OfEveryFormRunAlone) {
  AloneProducts alone;
  for (const ProductKind kind : {ProductKind::kForward, ProductKind::kInputGradient, ProductKind::kWeightGradient})
    for (const bool prepared : {false, true})
      for (const bool bias : {false, true})
        for (const bool accumulate : {false, true})
          EXPECT_NO_THROW(alone.seconds({kind, 5, 64, 32, prepared, bias, accumulate}, 2));
}

TEST_F(Products, AreCountedByTheirFormInAllLogsThatLive) {
  const Product small{.kind = ProductKind::kForward, .rows = 2, .k = 3, .m = 4};
  const Product large{.kind = ProductKind::kForward, .rows = 9, .k = 3, .m = 4};
  const auto run = [](const Product& product) { const ProductLog::Watch watch(product); };
  run(small);  // nobody listens
  ProductLog outer;
  run(small);
  {
    const ProductLog inner;
    run(large);
    run(small);
    run(large);
    { const ProductLog::Watch watch(ops::BesideProducts::kGathering); }
    ASSERT_THAT(inner.products(), SizeIs(2));
    EXPECT_EQ(inner.products()[0].product, large);
    EXPECT_EQ(inner.products()[0].calls, 2);
    EXPECT_DOUBLE_EQ(inner.seconds(), inner.products()[0].seconds + inner.products()[1].seconds);
    EXPECT_EQ(inner.calls_beside(ops::BesideProducts::kGathering), 1);
    EXPECT_EQ(inner.calls_beside(ops::BesideProducts::kPreparing), 0);
  }
  run(small);
  ASSERT_THAT(outer.products(), SizeIs(2));
  EXPECT_EQ(outer.products()[0].product, small);
  EXPECT_EQ(outer.products()[0].calls, 3);
}

}  // namespace
}  // namespace espalier::bench
