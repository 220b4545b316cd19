/// Query plans: PostgreSQL's for the Join Order Benchmark (Leis et al., 2015), as EXPLAIN (ANALYZE, FORMAT JSON) writes
/// them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "bench/data/plan_features.h"
#include "bench/data/plans_generate.h"
#include "bench/data/sets.h"
#include "bench/data/vocabulary.h"
#include "espalier/data/text_file.h"

namespace espalier::bench {
namespace {

using nlohmann::json;

constexpr double kShortestTime = 1e-3;  // milliseconds: the clock's last digit, and what was never run
constexpr int kDeepestPlan = 1000;

class PlanReader {
 public:
  PlanReader(const data::LineReader& reader, Vocabulary& kinds) : reader_(reader), kinds_(kinds) {}

  QueryPlan read(const json& operator_) {
    add(operator_, 0);
    return std::move(plan_);
  }

 private:
  /// The number of the node.
  std::int32_t add(const json& source, int depth) {
    if (depth > kDeepestPlan) refuse(fmt::format("expected a plan of at most {} levels", kDeepestPlan));
    std::vector<std::int32_t> children;
    if (const auto plans = source.find("Plans"); plans != source.end()) {
      if (!plans->is_array()) refuse("expected \"Plans\" to be a list");
      for (const json& plan : *plans) children.push_back(add(plan, depth + 1));
    }
    QueryPlan::Node node;
    node.features = plan_features({.rows = number(source, "Plan Rows"),
                                   .width = number(source, "Plan Width"),
                                   .startup_cost = number(source, "Startup Cost"),
                                   .total_cost = number(source, "Total Cost")});
    node.target = static_cast<float>(std::log(std::max(number(source, "Actual Total Time"), kShortestTime)));
    const auto type = source.find("Node Type");
    if (type == source.end() || !type->is_string()) refuse("expected an operator with a text \"Node Type\"");
    // An operator has two children at most: what is more is brought together before it, two by two.
    while (children.size() > 2) {
      children[1] = append(node, "(append)", {children[0], children[1]});
      children.erase(children.begin());
    }
    return append(std::move(node), type->get<std::string>(), children);
  }

  std::int32_t append(QueryPlan::Node node, const std::string& type, const std::vector<std::int32_t>& children) {
    node.kind = kinds_.number(fmt::format("{}/{}", type, children.size()));
    if (!children.empty()) node.left = children[0];
    if (children.size() > 1) node.right = children[1];
    plan_.nodes.push_back(std::move(node));
    return static_cast<std::int32_t>(plan_.nodes.size()) - 1;
  }

  double number(const json& source, const char* key) const {
    const auto found = source.is_object() ? source.find(key) : source.end();
    if (found == source.end() || !found->is_number())
      refuse(fmt::format("expected an operator with a number \"{}\"", key));
    return found->get<double>();
  }

  [[noreturn]] void refuse(std::string_view message) const { throw reader_.error_at(1, message); }

  const data::LineReader& reader_;
  Vocabulary& kinds_;
  QueryPlan plan_;
};

DataSet<QueryPlan> read_plans(const std::filesystem::path& path) {
  DataSet<QueryPlan> set{.real = true, .features = kPlanFeatures};
  Vocabulary kinds;
  data::LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    const json parsed = json::parse(line, nullptr, false);
    if (parsed.is_discarded()) throw reader.error_at(1, "expected a line of JSON");
    const json::json_pointer plan("/explain/Plan");
    if (!parsed.is_object() || !parsed.contains(plan))
      throw reader.error_at(1, "expected a plan under \"explain\", \"Plan\"");
    set.instances.push_back(PlanReader(reader, kinds).read(parsed[plan]));
  }
  set.words = kinds.size();
  return set;
}

}  // namespace

DataSet<QueryPlan> query_plans(const std::filesystem::path& folder, const Generate& generate) {
  return folder.empty() ? generate_plans(generate) : read_plans(folder / "query_plans/job_postgres.jsonl.gz");
}

}  // namespace espalier::bench
