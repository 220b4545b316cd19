/// The model "plans" (models/plan_net.h): the run time of PostgreSQL's query plans.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "espalier/data/query_plan.h"
#include "espalier/models/model_of.h"
#include "espalier/models/plan_features.h"
#include "espalier/models/plan_net.h"
#include "espalier/models/registry.h"
#include "espalier/models/standard_scale.h"
#include "espalier/ops/all.h"
#include "espalier/train/q_error.h"

namespace espalier::models {
namespace {

constexpr double kFastestAnswer = 1e-3;  // milliseconds; an untrained network gives any number
constexpr double kSlowestAnswer = 1e12;

struct PlanRecord {
  Value root;
  double milliseconds = 0;  // NaN if the plan did not run
  std::string group;        // empty if it has none
  std::string place;        // "plans.jsonl:7"
};

class Plans final : public ModelOf<PlanRecord, QueryPlan> {
 public:
  std::string_view name() const override { return "plans"; }
  train::Answers answers() const override { return train::Answers::kNumbers; }
  std::vector<train::Metric> measure(std::span<const train::Prediction> predictions) const override {
    return train::q_error_metrics(predictions);
  }
  std::vector<Value> samples() const override { return features_.samples(); }
  std::string describe() const override {
    return fmt::format("{} kinds of operators, and one for rare and unknown ones; {} features\n", features_.kinds() - 1,
                       features_.features());
  }

 private:
  void list(SettingList& list) override {
    settings_.list(list);
    list.add("group", group_, "plans with the same value of this key of their line are never divided between splits");
    list.add("min_count", min_count_, "rarer kinds of operators share a network, rarer names and texts are no features",
             1);
    list.add("names", names_, "relations and indexes are features by their names");
  }
  Value facts() const override {
    std::vector<Value> children(children_.begin(), children_.end());
    return Value::map({{"features", features_.to_value()},
                       {"children", Value::list(std::move(children))},
                       {"scale", scale_.to_value()}});
  }
  void restore(const Value& facts) override {
    features_ = PlanFeatures::from_value(facts.at("features"));
    scale_ = StandardScale::from_value(facts.at("scale"));
    children_.clear();
    for (const Value& most : facts.at("children").items()) {
      if (most.as_integer() < 0 || most.as_integer() > 2) throw UsageError("expected 0 to 2 children of an operator");
      children_.push_back(static_cast<std::int32_t>(most.as_integer()));
    }
    if (std::ssize(children_) != features_.kinds()) throw UsageError("expected numbers of children for every kind");
    set_weights(std::make_unique<Model>());
    make_network(weights());
  }

  RecordSource<PlanRecord> open(data::Input input, const data::ReadOptions& options) const override {
    const auto reader = std::make_shared<data::QueryPlanReader>(std::move(input), options);
    return {[this, reader](PlanRecord& record) {
              data::QueryPlan plan;
              if (!reader->next(plan)) return false;
              record = record_of(plan, reader->place());
              return true;
            },
            [reader]() -> const data::ReadReport& { return reader->report(); },
            [reader](const DataError& error) { reader->refuse(error); }};
  }
  bool reads_json() const override { return true; }
  PlanRecord from_json(const Value& value, const std::string& place) const override {
    data::QueryPlanReader reader(data::Input::text(value.to_text(), place));
    data::QueryPlan plan;
    if (!reader.next(plan)) throw UsageError("expected a plan");
    return record_of(plan, place);
  }
  PlanRecord record_of(const data::QueryPlan& plan, const std::string& place) const {
    PlanRecord record{plan.root, measured_time(plan.root), {}, place};
    if (plan.execution_time) record.milliseconds = std::max(*plan.execution_time, kFastestAnswer);
    const Value* group = plan.source.find(group_);
    if (group != nullptr && !group_.empty())
      record.group = group->is_string() ? std::string(group->as_string()) : group->to_text();
    return record;
  }
  std::string group_of(const PlanRecord& record, std::size_t number) const override {
    return record.group.empty() ? fmt::format("{}", number) : "query " + record.group;
  }
  std::string text_of(const PlanRecord& record) const override {
    const std::string_view file = std::string_view(record.place).substr(record.place.rfind('/') + 1);
    return fmt::format("{}: {} ({})", record.group.empty() ? "plan" : record.group,
                       record.root.at("Node Type").as_string(), file);
  }

  void learn(std::span<const PlanRecord> records) override {
    std::vector<Value> roots;
    for (const PlanRecord& record : records) roots.push_back(record.root);
    at_place(records.front(), [&] { features_ = PlanFeatures(roots, {.min_count = min_count_, .names = names_}); });
    scale_ = {};
    std::vector<QueryPlan> plans;
    std::vector<double> logarithms;
    for (const PlanRecord& record : records) {
      plans.push_back(encode(record, true));
      for (const QueryPlan::Node& node : plans.back().nodes)
        if (settings_.loss == "every" || &node == &plans.back().nodes.back())
          logarithms.push_back(static_cast<double>(node.target));
    }
    children_ = PlanNet::children_by_kind(plans, features_.kinds());
    scale_ = scale_of(logarithms);
  }
  void make_network(Model& model) override { net_.emplace(model, settings_, children_, features_.features()); }
  QueryPlan encode(const PlanRecord& record, bool labelled) const override {
    QueryPlan plan;
    at_place(record, [&] { plan = features_.encode(record.root); });
    plan.nodes.back().target = static_cast<float>(std::log(record.milliseconds));
    if (labelled && std::isnan(record.milliseconds))
      throw DataError(record.place + ": expected a measured time, as EXPLAIN (ANALYZE, FORMAT JSON) gives it");
    for (QueryPlan::Node& node : plan.nodes) {
      if (labelled && settings_.loss == "every" && std::isnan(node.target))
        throw DataError(record.place +
                        ": expected an \"Actual Total Time\" of every operator; without it, use the setting \"loss\" "
                        "root");
      node.target = static_cast<float>(scale_.scaled(static_cast<double>(node.target)));
    }
    return plan;
  }
  /// Names the record where it is refused.
  template <class F>
  static void at_place(const PlanRecord& record, const F& f) {
    try {
      f();
    } catch (const UsageError& error) {
      throw DataError(fmt::format("{}: {}", record.place, error.what()));
    }
  }
  std::int64_t nodes_of(const QueryPlan& plan) const override { return std::ssize(plan.nodes); }

  Expr output_of(Graph& graph, const QueryPlan& plan) const override { return net_->time(graph, plan); }
  Expr loss_of(Graph& graph, const QueryPlan& plan, Expr& output) const override {
    return net_->loss(graph, plan, &output);
  }
  void read_output(const QueryPlan& plan, const Tensor& output, train::Prediction& prediction) const override {
    prediction.expected.push_back(milliseconds_of(static_cast<double>(plan.nodes.back().target)));
    prediction.predicted.push_back(milliseconds_of(output.at(0)));
  }
  Value answer(const PlanRecord&, const QueryPlan&, const Tensor& output) const override {
    return Value::map({{"milliseconds", milliseconds_of(output.at(0))}});
  }
  double milliseconds_of(double target) const {
    return std::clamp(std::exp(scale_.original(target)), kFastestAnswer, kSlowestAnswer);
  }

  PlanSettings settings_;
  std::string group_ = "query";
  std::int32_t min_count_ = 5;
  bool names_ = true;
  PlanFeatures features_;
  std::vector<std::int32_t> children_;  // by kind, at most
  StandardScale scale_;                 // of logarithms of milliseconds
  std::optional<PlanNet> net_;
};

}  // namespace

std::unique_ptr<StandardModel> make_plans() { return std::make_unique<Plans>(); }

}  // namespace espalier::models
