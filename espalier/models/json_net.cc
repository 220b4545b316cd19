#include "espalier/models/json_net.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

using Kind = JsonInstance::Kind;

// The learnt states of a type.
enum Constant : std::int32_t { kOfNull, kOfFalse, kOfTrue, kOfEmpty, kOfMissing, kConstants };

JsonSettings checked_json(JsonSettings settings) {
  const SettingList list = settings_of(settings);
  list.assign(list.to_value());
  return settings;
}

}  // namespace

void JsonSettings::list(SettingList& list) {
  list.add("hidden", hidden, "size of the state of a value", 1, 4096);
  list.add("dropout", dropout, "dropout of states before the answer, and of the fields of objects", 0, 0.99);
  list.add("inner", inner, "labels of objects within the record that are learnt, if it is recursive",
           {"every", "none"});
}

/// Those that a type needs.
struct JsonNet::Layers {
  std::optional<nn::Linear> number;
  std::optional<nn::Embedding> words;
  std::optional<nn::Linear> text;
  std::optional<nn::GruCell> sequence;
  std::optional<nn::Linear> bag;
  std::optional<nn::Linear> map;   // u and g side by side
  std::vector<std::size_t> inner;  // fields that contain the type itself
};

JsonNet::JsonNet(Model& model, const JsonSettings& settings, const JsonSchema& schema)
    : settings_(checked_json(settings)),
      schema_(schema),
      constants_(model / "constants", kConstants * static_cast<std::int32_t>(schema.types().size()), settings.hidden) {
  make_layers(model);
}
JsonNet::~JsonNet() = default;

void JsonNet::make_layers(Model& model) {
  const std::int32_t size = settings_.hidden;
  for (std::size_t t = 0; t < schema_.types().size(); ++t) {
    const JsonType& type = schema_.types()[t];
    const Scope scope = model / fmt::format("type{}", t);
    Layers& layers = layers_.emplace_back();
    if (type.has_numbers) layers.number.emplace(scope / "number", 2, size);
    if (type.has_strings) layers.words.emplace(scope / "words", static_cast<std::int32_t>(type.words.size()) + 1, size);
    if (type.has_strings && type.is_text) layers.text.emplace(scope / "text", size, size);
    if (type.has_lists && !type.is_bag) layers.sequence.emplace(scope / "sequence", size, size);
    if (type.has_lists && type.is_bag) layers.bag.emplace(scope / "bag", 2 * size, size);
    if (type.fields.empty()) continue;
    layers.map.emplace(scope / "map", size * static_cast<std::int32_t>(type.fields.size()), 2 * size);
    for (std::size_t f = 0; f < type.fields.size(); ++f)
      if (type.recursive && schema_.types()[static_cast<std::size_t>(type.fields[f].type)].recursive)
        layers.inner.push_back(f);
  }
  answer_.emplace(model / "answer", size,
                  schema_.is_classification() ? static_cast<std::int32_t>(schema_.classes().size()) : 1);
}

Expr JsonNet::constant_state(Graph& graph, std::int32_t type, std::int32_t which) const {
  return constants_(graph, type * kConstants + which);
}

Expr JsonNet::list_state(const Layers& layers, const JsonType& type, const std::vector<Expr>& items) const {
  if (type.is_bag) return tanh((*layers.bag)(concat({mean(items), maximum(items)}, 0)));
  const Expr all = layers.sequence->rows(rows(items));
  return row(all, all.row_count() - 1);
}

Expr JsonNet::map_state(Graph& graph, const JsonInstance& instance, const JsonInstance::Node& node,
                        const std::vector<Expr>& states) const {
  const JsonType& type = schema_.types()[static_cast<std::size_t>(node.type)];
  const Layers& layers = layers_[static_cast<std::size_t>(node.type)];
  if (!layers.map) return constant_state(graph, node.type, kOfEmpty);
  std::vector<Expr> fields;
  std::vector<Expr> inner;
  for (std::int32_t i = node.begin; i < node.end; ++i) {
    const std::int32_t child = instance.children[static_cast<std::size_t>(i)];
    const std::int32_t of_field = type.fields[static_cast<std::size_t>(i - node.begin)].type;
    fields.push_back(child < 0 ? constant_state(graph, of_field, kOfMissing) : states[static_cast<std::size_t>(child)]);
  }
  for (const std::size_t f : layers.inner)
    if (instance.children[static_cast<std::size_t>(node.begin) + f] >= 0) inner.push_back(fields[f]);
  const std::int32_t size = settings_.hidden;
  const Expr both = (*layers.map)(dropout(fields.size() == 1 ? fields[0] : concat(fields, 0), settings_.dropout));
  const Expr update = tanh(slice(both, 0, size));
  const Expr gate = sigmoid(slice(both, size, 2 * size));
  if (inner.empty()) return gate * update;
  return gate * update + one_minus(gate) * (inner.size() == 1 ? inner[0] : mean(inner));
}

Expr JsonNet::state(Graph& graph, const JsonInstance& instance, const JsonInstance::Node& node,
                    const std::vector<Expr>& states) const {
  const JsonType& type = schema_.types()[static_cast<std::size_t>(node.type)];
  const Layers& layers = layers_[static_cast<std::size_t>(node.type)];
  const auto begin = static_cast<std::size_t>(node.begin);
  const auto count = static_cast<std::size_t>(node.end - node.begin);
  switch (node.kind) {
    case Kind::kNull: return constant_state(graph, node.type, kOfNull);
    case Kind::kFalse: return constant_state(graph, node.type, kOfFalse);
    case Kind::kTrue: return constant_state(graph, node.type, kOfTrue);
    case Kind::kEmpty: return constant_state(graph, node.type, kOfEmpty);
    case Kind::kNumber:
      return tanh((*layers.number)(graph.input({2}, std::span(instance.numbers).subspan(begin, count))));
    case Kind::kCategory: return (*layers.words)(graph, instance.words[begin]);
    case Kind::kText: {
      const Expr words = layers.words->rows(graph, std::span(instance.words).subspan(begin, count));
      return tanh((*layers.text)(mean({words})));
    }
    case Kind::kList: {
      std::vector<Expr> items;
      for (std::size_t i = 0; i < count; ++i)
        items.push_back(states[static_cast<std::size_t>(instance.children[begin + i])]);
      return list_state(layers, type, items);
    }
    case Kind::kMap: break;
  }
  return map_state(graph, instance, node, states);
}

std::vector<Expr> JsonNet::states(Graph& graph, const JsonInstance& instance) const {
  std::vector<Expr> states;
  states.reserve(instance.nodes.size());
  for (const JsonInstance::Node& node : instance.nodes) states.push_back(state(graph, instance, node, states));
  return states;
}

/// The nodes from which answers are learnt; the record's own, if it has a label, last.
std::vector<std::int32_t> JsonNet::targets(const JsonInstance& instance) const {
  std::vector<std::int32_t> nodes;
  for (std::size_t n = 0; n < instance.nodes.size(); ++n)
    if (instance.nodes[n].has_target) nodes.push_back(static_cast<std::int32_t>(n));
  if (settings_.inner == "none" && nodes.size() > 1) nodes.erase(nodes.begin(), nodes.end() - 1);
  return nodes;
}

Expr JsonNet::output(Graph& graph, const JsonInstance& instance) const {
  return (*answer_)(dropout(states(graph, instance).back(), settings_.dropout));
}

Expr JsonNet::loss(Graph& graph, const JsonInstance& instance, Expr* output) const {
  const std::vector<std::int32_t> nodes = targets(instance);
  if (nodes.empty()) throw UsageError("json: a record has no label to learn");
  const std::vector<Expr> all = states(graph, instance);
  std::vector<Expr> answered;
  std::vector<std::int32_t> classes;
  std::vector<float> numbers;
  for (const std::int32_t n : nodes) {
    const auto node = static_cast<std::size_t>(n);
    answered.push_back(all[node]);
    classes.push_back(static_cast<std::int32_t>(instance.nodes[node].target));
    numbers.push_back(instance.nodes[node].target);
  }
  const Expr answers = (*answer_)(dropout(rows(answered), settings_.dropout));
  if (output != nullptr) *output = row(answers, answers.row_count() - 1);
  if (schema_.is_classification()) return sum({cross_entropy_rows(answers, classes)});
  return sum({squared_distance(answers, graph.rows({1}, numbers))});
}

}  // namespace espalier::models
