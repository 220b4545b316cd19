#include "espalier/train/not_finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "espalier/base/error.h"
#include "espalier/kernels/rows.h"
#include "espalier/ops/sum.h"

namespace espalier::train {
namespace {

template <class T>
bool each_is_finite(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

bool is_finite(const Tensor& tensor) {
  if (tensor.dtype() == DType::kFloat64) return each_is_finite(tensor.as<double>());
  if (tensor.dtype() != DType::kFloat32) return true;
  const std::span<const float> values = tensor.as<float>();
  // A sum is fast, and not finite if one of its terms is not. It may also overflow, and so proves nothing then.
  return std::isfinite(kernels::sum(values)) || each_is_finite(values);
}

/// A minibatch recorded again: its nodes that the loss needs.
class Rerun {
 public:
  Rerun(const Task& task, GraphOptions options, const Suspect& suspect) : suspect_(suspect), graph_(with_ops(options)) {
    graph_.set_step(suspect.step);
    std::vector<Expr> losses;
    std::vector<Expr> outputs;
    for (const std::size_t instance : suspect.instances) {
      graph_.begin_instance(instance);
      losses.push_back(task.record(graph_, Split::kTrain, static_cast<std::int64_t>(instance), outputs));
    }
    loss_ = sum(losses);
    is_needed_.resize(static_cast<std::size_t>(graph_.size()));
    is_needed_[static_cast<std::size_t>(index_of(loss_.node()))] = true;
    for (std::int32_t i = graph_.size() - 1; i >= 0; --i)
      if (is_needed(i))
        for (const NodeId input : graph_.inputs(NodeId{i}))
          is_needed_[static_cast<std::size_t>(index_of(input))] = true;
  }

  /// The first op whose value is not finite.
  std::optional<std::string> in_values() {
    loss_.value();
    for (std::int32_t i = 0; i < graph_.size(); ++i)
      if (is_computed(i) && !is_finite(graph_.expr(NodeId{i}).value())) return op_text(NodeId{i}, "the value");
    return {};
  }
  /// The first op, on the way back from the loss, that gives a gradient that is not finite.
  std::optional<std::string> in_gradients() {
    Gradients gradients;
    std::vector<Expr> wanted;
    for (std::int32_t i = 0; i < graph_.size(); ++i)
      if (is_computed(i)) wanted.push_back(graph_.expr(NodeId{i}));
    loss_.backward({.into = &gradients, .wanted = wanted});
    for (auto at = wanted.rbegin(); at != wanted.rend(); ++at)
      if (!is_finite(at->grad())) return op_text(user_of(at->node()), "the gradient");
    const Parameter* parameter = find_not_finite(gradients);
    if (parameter == nullptr) return {};
    for (std::int32_t i = graph_.size() - 1; i >= 0; --i)
      for (const NodeId input : graph_.inputs(NodeId{i}))
        if (is_needed(i) && graph_.parameter_of(input) == parameter) return op_text(NodeId{i}, "the gradient");
    return {};
  }

 private:
  static GraphOptions with_ops(GraphOptions options) {
    options.expand_cells = true;
    return options;
  }
  bool is_needed(std::int32_t node) const { return is_needed_[static_cast<std::size_t>(node)]; }
  bool is_computed(std::int32_t node) const { return is_needed(node) && graph_.parameter_of(NodeId{node}) == nullptr; }
  /// The last node that takes this one in: the loss itself has none.
  NodeId user_of(NodeId node) const {
    for (std::int32_t i = graph_.size() - 1; i > index_of(node); --i) {
      const std::span<const NodeId> inputs = graph_.inputs(NodeId{i});
      if (is_needed(i) && std::find(inputs.begin(), inputs.end(), node) != inputs.end()) return NodeId{i};
    }
    return node;
  }
  /// The parameter that a node is made from most directly; null if there is none.
  const Parameter* parameter_near(NodeId node) const {
    std::vector<NodeId> seen{node};
    std::vector<bool> is_seen(static_cast<std::size_t>(graph_.size()));
    for (std::size_t i = 0; i < seen.size(); ++i)
      for (const NodeId input : graph_.inputs(seen[i])) {
        if (const Parameter* parameter = graph_.parameter_of(input)) return parameter;
        if (is_seen[static_cast<std::size_t>(index_of(input))]) continue;
        is_seen[static_cast<std::size_t>(index_of(input))] = true;
        seen.push_back(input);
      }
    return nullptr;
  }
  std::string op_text(NodeId node, std::string_view what) const {
    std::string text = fmt::format("{} of {} at {} is the first that is not finite", what, graph_.describe(node),
                                   graph_.source(node).to_string());
    if (const Parameter* parameter = parameter_near(node))
      text += fmt::format("; the nearest parameter is \"{}\"", parameter->name());
    const std::int32_t instance = index_of(graph_.instance(node));
    if (instance >= 0 && instance < std::ssize(suspect_.instances))
      text += fmt::format(", in training instance {}", suspect_.instances[static_cast<std::size_t>(instance)]);
    return text;
  }

  const Suspect& suspect_;
  Graph graph_;
  Expr loss_;
  std::vector<bool> is_needed_;
};

}  // namespace

const Parameter* find_not_finite(const Gradients& gradients) {
  for (const Gradient* gradient : gradients.all())
    if (!is_finite(gradient->values())) return gradient->parameter;
  return nullptr;
}

std::string explain_not_finite(const Task& task, const Model& model, const GraphOptions& options,
                               std::span<const Suspect> suspects) {
  for (const Parameter* parameter : model.parameters())
    if (!is_finite(parameter->value()))
      return fmt::format("parameter \"{}\" has numbers that are not finite", parameter->name());
  try {
    for (const Suspect& suspect : suspects)
      if (const auto found = Rerun(task, options, suspect).in_values()) return *found;
    for (const Suspect& suspect : suspects)
      if (const auto found = Rerun(task, options, suspect).in_gradients()) return *found;
  } catch (const Error& error) {
    return fmt::format("it was not found where: {}", error.what());
  }
  return "it did not appear again when the minibatch was computed op by op";
}

}  // namespace espalier::train
