#include "espalier/exec/leaf_gradients.h"

#include <algorithm>
#include <cstring>

namespace espalier::exec {

void LeafGradients::open(NodeId base) {
  const Parameter* parameter = graph_.parameter_of(base);
  // That of a wanted parameter is gathered by itself: the Gradients may hold those of earlier passes already.
  if (parameter != nullptr && !parameter->frozen && !wishes_.is_wanted(base)) {
    if (float* const values = is_at_end_ ? values_to_change(base, *parameter, wishes_.is_only_weight(base)) : nullptr) {
      ledger_.open(base, reinterpret_cast<std::byte*>(values), /*empty=*/false);
      return;
    }
    const Gradients::Dense dense = gradients_of(*parameter).dense(*parameter);
    ledger_.open(base, dense.data, dense.store);
    return;
  }
  ledger_.open(base, allocate(graph_.bytes(base)));
}

float* LeafGradients::values_to_change(NodeId node, const Parameter& parameter, bool is_for_nothing_else) {
  ParameterValues* const values = wishes_.options().values;
  if (values == nullptr || !is_for_nothing_else || graph_.type(node).dtype != DType::kFloat32) return nullptr;
  return values->open(parameter);
}

/// Asked for once a table.
float* LeafGradients::table_to_change(NodeId node, const Parameter& table) {
  for (const BackwardLists::Table& known : lists_.tables)
    if (known.node == node) return known.values;
  lists_.tables.push_back({node, values_to_change(node, table, wishes_.is_only_table(node))});
  return lists_.tables.back().values;
}

Gradients& LeafGradients::gradients_of(const Parameter& parameter) {
  Gradients* gradients = wishes_.gradients_of(parameter);
  if (std::find(used_.begin(), used_.end(), gradients) == used_.end()) used_.push_back(gradients);
  return *gradients;
}

void LeafGradients::finish() {
  pass_on_wanted();
  for (Gradients* gradients : used_) gradients->join_rows();
}

void LeafGradients::pass_on_wanted() {
  std::vector<NodeId> done;
  for (const Expr& expr : wishes_.options().wanted) {
    const NodeId node = expr.node();
    const Parameter* parameter = graph_.parameter_of(node);
    if (parameter == nullptr || parameter->frozen || !ledger_.is_open(node)) continue;
    if (std::find(done.begin(), done.end(), node) != done.end()) continue;  // listed twice
    done.push_back(node);
    ledger_.complete(node);
    const Gradients::Dense to = gradients_of(*parameter).dense(*parameter);
    if (to.store)
      std::memcpy(to.data, ledger_.where(node), static_cast<std::size_t>(graph_.bytes(node)));
    else if (graph_.type(node).dtype == DType::kFloat32)
      add<float>(to.data, node);
    else
      add<double>(to.data, node);
  }
}

template <class T>
void LeafGradients::add(std::byte* to, NodeId node) const {
  const auto* gradient = reinterpret_cast<const T*>(ledger_.where(node));
  for (std::int64_t i = 0; i < graph_.elements(node); ++i) reinterpret_cast<T*>(to)[i] += gradient[i];
}

std::vector<Tensor> LeafGradients::wanted() const {
  std::vector<Tensor> result;
  for (const Expr& expr : wishes_.options().wanted) {
    const NodeId node = expr.node();
    const Type& type = graph_.type(node);
    result.emplace_back(graph_.value_shape(node), type.dtype);
    if (!wishes_.gets_gradient(node) || !ledger_.is_open(table_.base[at(node)]) || type.elements == 0) continue;
    ledger_.next_step();
    ledger_.complete(node);
    std::memcpy(result.back().data(), ledger_.where(node), static_cast<std::size_t>(graph_.bytes(node)));
  }
  return result;
}

}  // namespace espalier::exec
