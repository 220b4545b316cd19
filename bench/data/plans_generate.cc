#include "bench/data/plans_generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "bench/data/draws.h"
#include "bench/data/plan_features.h"

namespace espalier::bench {
namespace {

// Counted in job_postgres.jsonl: 226 plans of 19.7 operators (9 to 38) and 11.2 levels on average, 15 kinds of
// operators, 7.6 joins a plan (3 to 16), nearly all of them with one table on their right.
constexpr std::int32_t kPlans = 226;
constexpr std::array<Quantile, 8> kJoins{
    {{0, 3}, {0.1, 4}, {0.25, 5.5}, {0.5, 7}, {0.75, 9.5}, {0.9, 11.5}, {0.95, 13}, {1, 16}}};

enum Kind : std::int32_t {
  kNestedLoop,
  kHashJoin,
  kMergeJoin,
  kIndexScan,
  kIndexOnlyScan,
  kSequentialScan,
  kBitmapIndexScan,
  kBitmapHeapScan,
  kHash,
  kMemoize,
  kMaterialize,
  kSort,
  kGather,
  kGatherMerge,
  kAggregate,
  kKinds,
};

class PlanMaker {
 public:
  explicit PlanMaker(Random& random) : random_(random) {}

  QueryPlan make() {
    const std::int32_t joins = draw_count(random_, kJoins);
    const auto gather_after = static_cast<std::int32_t>(random_.below(2 * joins + 2));  // half of them: never
    std::int32_t top = add(kSequentialScan);
    for (std::int32_t join = 0; join < joins; ++join) {
      if (join == gather_after) top = add(random_.uniform() < 0.02 ? kGatherMerge : kGather, top);
      top = add_join(top, join == 0);
    }
    if (random_.uniform() < 0.17) top = add(kAggregate, top);
    add(kAggregate, top);
    return std::move(plan_);
  }

 private:
  /// The first join is by hash or with a bitmap scan as a rule, the later ones are nested loops.
  std::int32_t add_join(std::int32_t left, bool first) {
    const double kind = random_.uniform();
    if (kind < (first ? 0.47 : 0.03)) return add(kHashJoin, left, add(kHash, add(kSequentialScan)));
    if (first && kind < 0.86) return add(kNestedLoop, left, add(kBitmapHeapScan, add(kBitmapIndexScan)));
    if (first && kind < 0.9) return add(kMergeJoin, add(kSort, left), add(kSort, add(kSequentialScan)));
    return add(kNestedLoop, left, add_inner());
  }

  std::int32_t add_inner() {
    const double kind = random_.uniform();
    if (kind < 0.79) return add(kIndexScan);
    if (kind < 0.87) return add(kIndexOnlyScan);
    if (kind < 0.96) return add(kMemoize, add(kIndexScan));
    return kind < 0.99 ? add(kSequentialScan) : add(kMaterialize, add(kSequentialScan));
  }

  std::int32_t add(Kind kind, std::int32_t left = -1, std::int32_t right = -1) {
    QueryPlan::Node node{.kind = kind, .left = left, .right = right};
    PlanEstimates estimates{.rows = std::exp(draw(random_, kRows)), .width = std::exp(draw(random_, kWidth))};
    // A node costs at least what those below it do; its time goes with its cost.
    double below = 0;
    for (const std::int32_t child : {left, right})
      if (child >= 0) below = std::max(below, costs_[static_cast<std::size_t>(child)]);
    estimates.startup_cost = below / 2;
    estimates.total_cost = below + std::exp(draw(random_, kCost));
    costs_.push_back(estimates.total_cost);
    node.features = plan_features(estimates);
    node.target = static_cast<float>(std::log(estimates.total_cost) - 3 + 3 * std::clamp(random_.normal(), -1.0, 1.0));
    plan_.nodes.push_back(std::move(node));
    return static_cast<std::int32_t>(plan_.nodes.size()) - 1;
  }

  // Logarithms: of rows, of bytes a row, of what an operator costs beyond those below it.
  static constexpr std::array<Quantile, 6> kRows{{{0, 0}, {0.6, 0.1}, {0.75, 3.2}, {0.9, 6.1}, {0.95, 8.5}, {1, 16.5}}};
  static constexpr std::array<Quantile, 5> kWidth{{{0, 1.4}, {0.25, 1.6}, {0.5, 3}, {0.9, 4.3}, {1, 5.3}}};
  static constexpr std::array<Quantile, 5> kCost{{{0, -1}, {0.3, 0.5}, {0.6, 5}, {0.9, 8}, {1, 12}}};

  Random& random_;
  QueryPlan plan_;
  std::vector<double> costs_;
};

}  // namespace

DataSet<QueryPlan> generate_plans(const Generate& generate) {
  DataSet<QueryPlan> set{.words = kKinds, .features = kPlanFeatures};
  set.instances.resize(static_cast<std::size_t>(generate.count > 0 ? generate.count : kPlans));
  Random random(generate.seed);
  for (QueryPlan& plan : set.instances) plan = PlanMaker(random).make();
  return set;
}

}  // namespace espalier::bench
