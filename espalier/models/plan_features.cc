#include "espalier/models/plan_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "espalier/base/error.h"

namespace espalier::models {
namespace {

constexpr double kShortestTime = 1e-3;  // milliseconds
constexpr std::size_t kDeepestPlan = 1000;

// Known before a plan runs. Of Booleans only "true" is a feature.
constexpr std::array<std::string_view, 9> kTexts{"Join Type",           "Strategy",       "Partial Mode",
                                                 "Parent Relationship", "Scan Direction", "Command",
                                                 "Cache Mode",          "Inner Unique",   "Parallel Aware"};
constexpr std::array<std::string_view, 2> kNames{"Relation Name", "Index Name"};
constexpr std::array<std::string_view, 4> kKeys{"Sort Key", "Group Key", "Presorted Key", "Cache Key"};

double number_at(const Value& node, std::string_view key) {
  const Value* found = node.find(key);
  if (found == nullptr || !(found->is_float() || found->is_integer()))
    throw UsageError(fmt::format("expected an operator with a number \"{}\"", key));
  return found->as_float();
}

double number_or_0(const Value& node, std::string_view key) {
  const Value* found = node.find(key);
  return found == nullptr || !(found->is_float() || found->is_integer()) ? 0 : found->as_float();
}

double log_of(double x) { return std::log1p(std::max(x, 0.0)); }

std::string_view kind_name(const Value& node) { return node.at("Node Type").as_string(); }

bool is_condition(std::string_view key) {
  return key.ends_with(" Cond") || key == "Filter" || key == "Join Filter" || key == "One-Time Filter";
}

/// Calls f with "Join Type Inner" and the like.
void for_each_text(const Value& node, bool names, const std::function<void(std::string_view)>& f) {
  const auto take = [&](std::string_view key) {
    const Value* found = node.find(key);
    if (found != nullptr && found->is_string()) f(fmt::format("{} {}", key, found->as_string()));
    if (found != nullptr && found->is_bool() && found->as_bool()) f(key);
  };
  std::for_each(kTexts.begin(), kTexts.end(), take);
  if (names) std::for_each(kNames.begin(), kNames.end(), take);
}

std::span<const Value> children_of(const Value& node) {
  const Value* plans = node.find("Plans");
  return plans == nullptr ? std::span<const Value>() : plans->items();
}

/// Calls f(operator, its children's results) for children before their parent, without recursion; gives f's result for
/// the root.
std::int32_t for_each_operator(const Value& root,
                               const std::function<std::int32_t(const Value&, std::span<const std::int32_t>)>& f) {
  struct Open {
    const Value* node;
    std::vector<std::int32_t> children;
  };
  std::vector<Open> open{{&root, {}}};
  while (true) {
    const std::span<const Value> children = children_of(*open.back().node);
    if (open.back().children.size() < children.size()) {
      if (open.size() == kDeepestPlan)
        throw UsageError(fmt::format("expected a plan of at most {} levels", kDeepestPlan));
      open.push_back({&children[open.back().children.size()], {}});
      continue;
    }
    const std::int32_t result = f(*open.back().node, open.back().children);
    open.pop_back();
    if (open.empty()) return result;
    open.back().children.push_back(result);
  }
}

}  // namespace

double measured_time(const Value& node) {
  const Value* time = node.find("Actual Total Time");
  if (time == nullptr || !(time->is_float() || time->is_integer())) return std::numeric_limits<double>::quiet_NaN();
  const Value* loops = node.find("Actual Loops");
  const double times = loops != nullptr && (loops->is_float() || loops->is_integer()) ? loops->as_float() : 1;
  return std::max(time->as_float() * times, kShortestTime);
}

PlanFeatures::Numbers PlanFeatures::numbers_of(const Value& node) {
  const double startup = number_at(node, "Startup Cost");
  const double total = number_at(node, "Total Cost");
  double inputs = 0;  // rows that the children are estimated to give
  double conditions = 0;
  double condition_bytes = 0;
  double keys = 0;
  for (const Value& child : children_of(node)) inputs += number_at(child, "Plan Rows");
  for (const Value::Entry& entry : node.entries()) {
    if (is_condition(entry.key) && entry.value.is_string()) {
      ++conditions;
      condition_bytes += static_cast<double>(entry.value.as_string().size());
    }
    if (std::find(kKeys.begin(), kKeys.end(), entry.key) != kKeys.end())
      keys += entry.value.is_list() ? static_cast<double>(entry.value.size()) : 1;
  }
  return {log_of(number_at(node, "Plan Rows")),
          log_of(number_at(node, "Plan Width")),
          log_of(startup),
          log_of(total),
          log_of(total - startup),
          log_of(inputs),
          conditions,
          log_of(condition_bytes),
          keys,
          number_or_0(node, "Workers Planned")};
}

PlanFeatures::PlanFeatures(std::span<const Value> roots, const PlanFeatureOptions& options) {
  WordCounts kinds;
  WordCounts texts;
  std::array<std::vector<double>, kNumbers> numbers;
  for (const Value& root : roots)
    for_each_operator(root, [&](const Value& node, std::span<const std::int32_t>) {
      kinds.add(kind_name(node));
      for_each_text(node, options.names, [&](std::string_view text) { texts.add(text); });
      const Numbers all = numbers_of(node);
      for (std::size_t n = 0; n < all.size(); ++n) numbers[n].push_back(all[n]);
      return 0;
    });
  kinds_ = Words(kinds, options.min_count);
  texts_ = Words(texts, options.min_count);
  if (kinds_.size() - 1 == kinds.size()) {  // the rarest stands for those that never occur, too
    std::vector<std::string> frequent = kinds_.list();
    frequent.pop_back();
    kinds_ = Words(frequent);
  }
  for (std::size_t n = 0; n < numbers.size(); ++n) scales_[n] = scale_of(numbers[n]);
}

std::vector<float> PlanFeatures::features_of(const Value& node) const {
  std::vector<float> features(static_cast<std::size_t>(this->features()), 0);
  const Numbers numbers = numbers_of(node);
  for (std::size_t n = 0; n < numbers.size(); ++n) features[n] = static_cast<float>(scales_[n].scaled(numbers[n]));
  for_each_text(node, true, [&](std::string_view text) {
    const std::int32_t number = texts_.number(text);
    if (number > 0) features[static_cast<std::size_t>(kNumbers + number - 1)] = 1;
  });
  return features;
}

QueryPlan PlanFeatures::encode(const Value& root) const {
  QueryPlan plan;
  for_each_operator(root, [&](const Value& source, std::span<const std::int32_t> children) {
    QueryPlan::Node node;
    node.kind = kinds_.number(kind_name(source));
    node.features = features_of(source);
    node.target = static_cast<float>(std::log(measured_time(source)));
    if (!children.empty()) node.left = children[0];
    if (children.size() > 1) node.right = children[1];
    if (children.size() > 2) node.further.assign(children.begin() + 2, children.end());
    plan.nodes.push_back(std::move(node));
    return static_cast<std::int32_t>(plan.nodes.size()) - 1;
  });
  return plan;
}

std::vector<Value> PlanFeatures::samples() const {
  constexpr std::size_t kMostInputs = 3;  // from the third on, inputs are added to the second
  const auto operator_of = [](const std::string& kind, std::vector<Value> inputs) {
    return Value::map({{"Node Type", kind},
                       {"Startup Cost", 0},
                       {"Total Cost", 1},
                       {"Plan Rows", 1},
                       {"Plan Width", 1},
                       {"Plans", Value::list(std::move(inputs))}});
  };
  std::vector<std::string> kinds = kinds_.list();
  kinds.emplace_back("?");  // unknown
  std::vector<Value> plans;
  for (const std::string& kind : kinds)
    for (std::size_t inputs = 0; inputs <= kMostInputs; ++inputs) {
      const std::vector<Value> children(inputs, operator_of(kind, {}));
      plans.push_back(Value::map({{"Plan", operator_of(kind, children)}}));
    }
  return plans;
}

Value PlanFeatures::to_value() const {
  std::vector<Value> scales;
  scales.reserve(scales_.size());
  for (const StandardScale& scale : scales_) scales.push_back(scale.to_value());
  return Value::map(
      {{"kinds", kinds_.to_value()}, {"texts", texts_.to_value()}, {"scales", Value::list(std::move(scales))}});
}

PlanFeatures PlanFeatures::from_value(const Value& value) {
  PlanFeatures result;
  result.kinds_ = Words::from_value(value.at("kinds"));
  result.texts_ = Words::from_value(value.at("texts"));
  const std::span<const Value> scales = value.at("scales").items();
  if (scales.size() != result.scales_.size())
    throw UsageError(fmt::format("expected {} scales of features, not {}", kNumbers, scales.size()));
  for (std::size_t n = 0; n < scales.size(); ++n) result.scales_[n] = StandardScale::from_value(scales[n]);
  return result;
}

}  // namespace espalier::models
