/// The model "json": learns a field of JSON lines from all other fields (models/json_schema.h, models/json_net.h).
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "espalier/models/json_net.h"
#include "espalier/models/json_samples.h"
#include "espalier/models/json_schema.h"
#include "espalier/models/model_of.h"
#include "espalier/models/registry.h"
#include "espalier/models/text_lists.h"
#include "espalier/ops/all.h"
#include "espalier/train/q_error.h"

namespace espalier::models {
namespace {

struct JsonLine {
  Value value;
  std::string place;  // "train.jsonl:7"
};

class JsonModel final : public ModelOf<JsonLine, JsonInstance> {
 public:
  std::string_view name() const override { return "json"; }
  train::Answers answers() const override {
    return schema_.is_classification() ? train::Answers::kClasses : train::Answers::kNumbers;
  }
  std::vector<std::string> classes() const override { return schema_.classes(); }
  std::string describe() const override { return schema_.describe(); }
  /// Numbers that are learnt as logarithms are measured by the factor by which they are missed, too.
  std::vector<train::Metric> measure(std::span<const train::Prediction> predictions) const override {
    std::vector<train::Metric> metrics = StandardModel::measure(predictions);
    if (schema_.is_classification() || !schema_.is_logarithmic()) return metrics;
    std::vector<train::Metric> factors = train::q_error_metrics(predictions);
    metrics.insert(metrics.begin(), factors.begin(), factors.end());
    return metrics;
  }
  std::vector<Value> samples() const override { return json_samples(schema_); }

 private:
  void list(SettingList& list) override {
    list.add("label", options_.label, "name of the field to learn; keys of a path have points between them");
    list.add("ignore", ignore_, "keys that are no inputs, with commas between them; \"Actual *\" stands for all such");
    list.add("task", options_.task, "what labels are", {"auto", "classification", "regression"});
    list.add("group", group_, "name of a field; records that have the same value are never divided between splits");
    list.add("lists", options_.lists, "whether the order of items matters", {"auto", "sequences", "bags"});
    settings_.list(list);
  }

  Value facts() const override { return schema_.to_value(); }
  void restore(const Value& facts) override {
    schema_ = JsonSchema::from_value(facts);
    set_weights(std::make_unique<Model>());
    make_network(weights());
  }

  RecordSource<JsonLine> open(data::Input input, const data::ReadOptions& options) const override {
    return json_source(std::move(input), options);
  }
  JsonLine from_json(const Value& value, const std::string& place) const override { return {value, place}; }
  std::string text_of(const JsonLine& record) const override { return record.value.to_text(); }

  std::string group_of(const JsonLine& record, std::size_t number) const override {
    const Value* group = record.value.is_map() && !group_.empty() ? record.value.find(group_) : nullptr;
    return group == nullptr ? std::to_string(number) : "group " + group->to_text();
  }

  void learn(std::span<const JsonLine> records) override {
    options_.ignore = comma_list(ignore_);
    std::vector<Value> values;
    for (const JsonLine& record : records) values.push_back(record.value);
    schema_ = JsonSchema(values, options_, [&](std::size_t i) { return records[i].place; });
  }
  void make_network(Model& model) override { net_.emplace(model, settings_, schema_); }
  JsonInstance encode(const JsonLine& record, bool labelled) const override {
    if (!record.value.is_map())
      throw DataError(fmt::format("{}: expected an object, not {}", record.place, name_of(record.value.kind())));
    return schema_.encode(record.value, labelled, record.place);
  }
  std::int64_t nodes_of(const JsonInstance& instance) const override { return std::ssize(instance.nodes); }

  Expr output_of(Graph& graph, const JsonInstance& instance) const override { return net_->output(graph, instance); }
  Expr loss_of(Graph& graph, const JsonInstance& instance, Expr& output) const override {
    return net_->loss(graph, instance, &output);
  }
  void read_output(const JsonInstance& instance, const Tensor& output, train::Prediction& prediction) const override {
    const float target = instance.nodes.back().target;
    if (schema_.is_classification()) return train::read_class(output, static_cast<std::int64_t>(target), prediction);
    prediction.expected.push_back(schema_.number_of(target));
    prediction.predicted.push_back(schema_.number_of(output.at(0)));
  }
  Value answer(const JsonLine&, const JsonInstance&, const Tensor& output) const override {
    if (!schema_.is_classification()) return Value::map({{"value", schema_.number_of(output.at(0))}});
    return class_answer(schema_.classes(), output);
  }

  std::string ignore_;
  std::string group_;
  JsonSchemaOptions options_;
  JsonSettings settings_;
  JsonSchema schema_;
  std::optional<JsonNet> net_;
};

}  // namespace

std::unique_ptr<StandardModel> make_json() { return std::make_unique<JsonModel>(); }

}  // namespace espalier::models
