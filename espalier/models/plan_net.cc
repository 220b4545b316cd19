#include "espalier/models/plan_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

PlanSettings checked_plans(PlanSettings settings) {
  const SettingList list = settings_of(settings);
  list.assign(list.to_value());
  return settings;
}

}  // namespace

void PlanSettings::list(SettingList& list) {
  list.add("hidden", hidden, "size of an operator's state", 1, 4096);
  list.add("loss", loss, "operators whose times are learnt", {"every", "root"});
}

PlanNet::PlanNet(Model& model, const PlanSettings& settings, std::span<const std::int32_t> children,
                 std::int32_t features, Form form)
    : settings_(checked_plans(settings)),
      form_(form),
      features_(features),
      children_(children.begin(), children.end()),
      time_(model / "time", settings.hidden, 1) {
  for (std::size_t kind = 0; kind < children.size(); ++kind) add_kind(model, kind);
  kinds_.emplace_back(
      "sum", 2, [](In in) { return in[0] + in[1]; }, TakesX::kNo);
  recursion_ = std::make_unique<Recursion>("plan", kinds_, std::vector<Shape>{{settings.hidden}});
}

void PlanNet::add_kind(Model& model, std::size_t kind) {
  const std::int32_t hidden = settings_.hidden;
  const Scope scope = model / fmt::format("kind{}", kind);
  const nn::Linear first(scope / "first", features_ + children_[kind] * hidden, hidden);
  const nn::Linear second(scope / "second", hidden, hidden);
  const auto state = [first, second](In in) {
    return relu(second(relu(first(in.size() == 1 ? in[0] : concat(in, 0)))));
  };
  cells_.push_back(cell("plan", state));
  kinds_.emplace_back(fmt::format("kind{}", kind), children_[kind], state);
}

std::vector<std::int32_t> PlanNet::children_by_kind(std::span<const QueryPlan> plans, std::int32_t kinds) {
  std::vector<std::int32_t> children(static_cast<std::size_t>(kinds), 0);
  for (const QueryPlan& plan : plans)
    for (const QueryPlan::Node& node : plan.nodes) {
      std::int32_t& most = children[static_cast<std::size_t>(node.kind)];
      most = std::max(most, (node.left >= 0 ? 1 : 0) + (node.right >= 0 ? 1 : 0));
    }
  return children;
}

namespace {

/// The children of an operator in order, -1 for none.
std::array<std::int32_t, 2> first_two(const QueryPlan::Node& node) {
  return node.left >= 0 ? std::array{node.left, node.right} : std::array{node.right, node.left};
}

}  // namespace

Expr PlanNet::along(Graph& graph, const QueryPlan& plan) const {
  thread_local std::vector<const float*> features;  // these reuse their memory
  thread_local Structure structure;
  features.clear();
  structure.clear();
  auto next_sum = static_cast<std::int32_t>(plan.nodes.size());
  const KindId sum{static_cast<std::int32_t>(children_.size())};
  for (const QueryPlan::Node& node : plan.nodes) {
    features.push_back(node.features.data());
    std::array<std::int32_t, 2> children = first_two(node);
    if (!node.further.empty()) children[1] = (next_sum += static_cast<std::int32_t>(node.further.size())) - 1;
    const auto count = static_cast<std::size_t>(children_[static_cast<std::size_t>(node.kind)]);
    structure.add(KindId{node.kind}, structure.size(), std::span<const std::int32_t>(children).first(count));
  }
  for (const QueryPlan::Node& node : plan.nodes) {
    std::int32_t total = first_two(node)[1];
    for (const std::int32_t child : node.further) total = structure.add(sum, Structure::kNoX, {total, child});
  }
  const Expr all = (*recursion_)(graph.rows({features_}, features), structure)[0];
  const auto operators = static_cast<std::int32_t>(plan.nodes.size());
  return structure.size() == operators ? all : first_rows(all, operators);
}

void PlanNet::by_node(Graph& graph, const QueryPlan& plan, std::vector<Expr>& states) const {
  for (const QueryPlan::Node& node : plan.nodes) {
    std::array<Expr, 3> parts{graph.input({features_}, node.features)};
    const std::array<std::int32_t, 2> children = first_two(node);
    const auto count = static_cast<std::size_t>(children_[static_cast<std::size_t>(node.kind)]);
    for (std::size_t k = 0; k < count; ++k)
      parts[1 + k] =
          children[k] >= 0 ? states[static_cast<std::size_t>(children[k])] : graph.constant({settings_.hidden}, 0);
    for (const std::int32_t child : node.further)
      if (count == 2) parts[2] = parts[2] + states[static_cast<std::size_t>(child)];
    states.push_back(cells_[static_cast<std::size_t>(node.kind)](In(parts).first(1 + count)));
  }
}

const std::vector<Expr>& PlanNet::states(Graph& graph, const QueryPlan& plan) const {
  thread_local std::vector<Expr> states;  // of one instance; its memory serves the next
  states.clear();
  for (const QueryPlan::Node& node : plan.nodes)
    if (std::ssize(node.features) != features_)
      throw UsageError(
          fmt::format("plans: an operator has {} features, and the network reads {}", node.features.size(), features_));
  if (form_ == Form::kRows)
    states.push_back(along(graph, plan));
  else
    by_node(graph, plan, states);
  return states;
}

Expr PlanNet::time_of(const std::vector<Expr>& states) const {
  return time_(form_ == Form::kRows ? row(states[0], states[0].row_count() - 1) : states.back());
}

Expr PlanNet::time(Graph& graph, const QueryPlan& plan) const { return time_of(states(graph, plan)); }

Expr PlanNet::loss(Graph& graph, const QueryPlan& plan, Expr* time) const {
  const std::vector<Expr>& all = states(graph, plan);
  if (settings_.loss == "root") {
    const Expr of_root = time_of(all);
    if (time != nullptr) *time = of_root;
    return squared_distance(of_root, graph.constant({1}, plan.nodes.back().target));
  }
  thread_local std::vector<float> targets;
  targets.clear();
  for (const QueryPlan::Node& node : plan.nodes) targets.push_back(node.target);
  const Expr times = time_(form_ == Form::kRows ? all[0] : rows(all));
  if (time != nullptr) *time = row(times, times.row_count() - 1);
  return squared_distance(times, graph.rows({1}, targets));
}

}  // namespace espalier::models
