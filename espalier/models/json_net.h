/// JsonNet: a network shaped like JSON records (hierarchical multi-instance learning: Pevny and Somol, 2016; Mandlik,
/// Racinsky, Lisy and Pevny, 2022), which is also recursive where records are.
///
/// Every value of a record becomes a state of `hidden` numbers, by what its type (models/json_schema.h) says of it:
///   number     tanh([z, z_log] W + b) of the scaled number and its scaled logarithm
///   category   a row of a table; text: tanh(mean of the rows of its words W + b)
///   list       a sequence: the last state of a GRU over its items; a bag: tanh([mean, maximum] W + b)
///   object     with u = tanh(z W_u + b_u) and g = sigmoid(z W_g + b_g), where z has the states of all fields side by
///              side:  g * u, and, if fields contain values of the object's own type,  g * u + (1 - g) * their mean
///   null, true, false, missing and empty values: a learnt state per type and case
/// The answer is linear in the state of the record. If the type of the object that has the label is recursive, the
/// labels of such objects within the record are learnt too.
///
/// Difference from that work: gates and GRUs, which keep deep records trainable.
///
/// Thread safety: as Model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/models/json_schema.h"
#include "espalier/models/settings.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"

namespace espalier::models {

struct ESPALIER_EXPORT JsonSettings {
  std::int32_t hidden = 64;
  double dropout = 0.2;         // of states, where they are answered from, and of the fields of objects
  std::string inner = "every";  // labels of inner objects that are learnt: "every", or "none"

  void list(SettingList& list);
};

class ESPALIER_EXPORT JsonNet {
 public:
  /// The schema must outlive it. Refuses (UsageError) settings outside their ranges.
  JsonNet(Model& model, const JsonSettings& settings, const JsonSchema& schema);
  ~JsonNet();

  /// What the network says of a record: the scores of the classes, or one number, scaled as the schema says.
  Expr output(Graph& graph, const JsonInstance& instance) const;
  /// The loss, one element, and the output for the record as a whole. Refuses (UsageError) an instance without targets.
  Expr loss(Graph& graph, const JsonInstance& instance, Expr* output) const;

 private:
  struct Layers;
  void make_layers(Model& model);
  /// The states of all nodes of an instance.
  std::vector<Expr> states(Graph& graph, const JsonInstance& instance) const;
  Expr state(Graph& graph, const JsonInstance& instance, const JsonInstance::Node& node,
             const std::vector<Expr>& states) const;
  Expr list_state(const Layers& layers, const JsonType& type, const std::vector<Expr>& items) const;
  Expr map_state(Graph& graph, const JsonInstance& instance, const JsonInstance::Node& node,
                 const std::vector<Expr>& states) const;
  /// A learnt state of a type: of null, false, true, an empty value, a missing one.
  Expr constant_state(Graph& graph, std::int32_t type, std::int32_t which) const;
  std::vector<std::int32_t> targets(const JsonInstance& instance) const;

  JsonSettings settings_;
  const JsonSchema& schema_;
  nn::Embedding constants_;
  std::vector<Layers> layers_;  // by type
  std::optional<nn::Linear> answer_;
};

}  // namespace espalier::models
