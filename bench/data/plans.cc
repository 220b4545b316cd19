/// Query plans: PostgreSQL's for the Join Order Benchmark (Leis et al., 2015), as EXPLAIN (ANALYZE, FORMAT JSON) writes
/// them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/data/plan_features.h"
#include "bench/data/plans_generate.h"
#include "bench/data/sets.h"
#include "espalier/data/query_plan.h"
#include "espalier/data/value.h"
#include "espalier/data/vocabulary.h"

namespace espalier::bench {
namespace {

constexpr double kShortestTime = 1e-3;  // milliseconds: the clock's last digit, and what was never run
constexpr int kDeepestPlan = 1000;

class PlanReader {
 public:
  PlanReader(const data::QueryPlanReader& reader, data::WordCounts& kinds) : reader_(reader), kinds_(kinds) {}

  QueryPlan make(const Value& operator_) {
    add(operator_, 0);
    return std::move(plan_);
  }

 private:
  /// The number of the node.
  std::int32_t add(const Value& source, int depth) {
    if (depth > kDeepestPlan) refuse(fmt::format("expected a plan of at most {} levels", kDeepestPlan));
    std::vector<std::int32_t> children;
    if (const Value* plans = source.find("Plans"))
      for (const Value& plan : plans->items()) children.push_back(add(plan, depth + 1));
    QueryPlan::Node node;
    node.features = plan_features({.rows = number(source, "Plan Rows"),
                                   .width = number(source, "Plan Width"),
                                   .startup_cost = number(source, "Startup Cost"),
                                   .total_cost = number(source, "Total Cost")});
    node.target = static_cast<float>(std::log(std::max(number(source, "Actual Total Time"), kShortestTime)));
    // An operator has two children at most: what is more is brought together before it, two by two.
    while (children.size() > 2) {
      children[1] = append(node, "(append)", {children[0], children[1]});
      children.erase(children.begin());
    }
    return append(std::move(node), source.at("Node Type").as_string(), children);
  }

  std::int32_t append(QueryPlan::Node node, std::string_view type, const std::vector<std::int32_t>& children) {
    node.kind = kinds_.add(fmt::format("{}/{}", type, children.size()));
    if (!children.empty()) node.left = children[0];
    if (children.size() > 1) node.right = children[1];
    plan_.nodes.push_back(std::move(node));
    return static_cast<std::int32_t>(plan_.nodes.size()) - 1;
  }

  double number(const Value& source, const char* key) const {
    const Value* found = source.find(key);
    if (found == nullptr || !(found->is_float() || found->is_integer()))
      refuse(fmt::format("expected an operator with a number \"{}\"", key));
    return found->as_float();
  }

  [[noreturn]] void refuse(std::string_view message) const { throw reader_.error_at_plan(message); }

  const data::QueryPlanReader& reader_;
  data::WordCounts& kinds_;
  QueryPlan plan_;
};

DataSet<QueryPlan> read_plans(const std::filesystem::path& path) {
  DataSet<QueryPlan> set{.real = true, .features = kPlanFeatures};
  data::WordCounts kinds;
  data::QueryPlanReader reader(path);
  for (data::QueryPlan plan; reader.next(plan);) set.instances.push_back(PlanReader(reader, kinds).make(plan.root));
  set.words = kinds.size();
  return set;
}

}  // namespace

DataSet<QueryPlan> query_plans(const std::filesystem::path& folder, const Generate& generate) {
  return folder.empty() ? generate_plans(generate) : read_plans(folder / "query_plans/job_postgres.jsonl.gz");
}

}  // namespace espalier::bench
