#include "espalier/exec/bind/gradient_places.h"

#include <algorithm>
#include <cstring>

#include "espalier/kernels/rows.h"

namespace espalier::exec {

void GradientPlaces::open(NodeId base) {
  const Parameter* parameter = graph_.parameter_of(base);
  // That of a wanted parameter is gathered by itself: the Gradients may hold those of earlier passes already.
  if (parameter != nullptr && !parameter->frozen && !request_.is_wanted(base)) {
    if (float* const values =
            is_at_end_ ? values_to_change(base, *parameter, request_.is_only_weight(base)) : nullptr) {
      ledger_.open(base, reinterpret_cast<std::byte*>(values), /*empty=*/false);
      return;
    }
    const Gradients::Dense dense = gradients_of(*parameter).dense(*parameter);
    ledger_.open(base, dense.data, dense.store);
    return;
  }
  ledger_.open(base, allocate(graph_.bytes(base)));
}

float* GradientPlaces::values_to_change(NodeId node, const Parameter& parameter, bool is_for_nothing_else) {
  ParameterValues* const values = request_.options().values;
  if (values == nullptr || !is_for_nothing_else || graph_.type(node).dtype != DType::kFloat32) return nullptr;
  return values->open(parameter);
}

/// Asked for once a table.
float* GradientPlaces::table_to_change(NodeId node, const Parameter& table) {
  for (const Table& known : tables_)
    if (known.node == node) return known.values;
  tables_.push_back({node, values_to_change(node, table, request_.is_only_table(node))});
  return tables_.back().values;
}

void GradientPlaces::add_row(NodeId to, const std::byte* row) {
  ensure_open(to);
  ledger_.next_step();
  const auto n = static_cast<std::size_t>(graph_.elements(to));
  std::byte* const where = ledger_.where(to);
  if (ledger_.claim(to)) {
    if (n > 0) std::memcpy(where, row, static_cast<std::size_t>(graph_.bytes(to)));
  } else if (graph_.type(to).dtype == DType::kFloat32) {
    kernels::add({reinterpret_cast<const float*>(row), n}, {reinterpret_cast<float*>(where), n});
  } else {
    for (std::size_t i = 0; i < n; ++i) reinterpret_cast<double*>(where)[i] += reinterpret_cast<const double*>(row)[i];
  }
}

Gradients& GradientPlaces::gradients_of(const Parameter& parameter) {
  Gradients* gradients = request_.gradients_of(parameter);
  if (std::find(used_.begin(), used_.end(), gradients) == used_.end()) used_.push_back(gradients);
  return *gradients;
}

void GradientPlaces::finish() {
  pass_on_wanted();
  for (Gradients* gradients : used_) gradients->join_rows();
}

void GradientPlaces::pass_on_wanted() {
  std::vector<NodeId> done;
  for (const Expr& expr : request_.options().wanted) {
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
void GradientPlaces::add(std::byte* to, NodeId node) const {
  const auto* gradient = reinterpret_cast<const T*>(ledger_.where(node));
  for (std::int64_t i = 0; i < graph_.elements(node); ++i) reinterpret_cast<T*>(to)[i] += gradient[i];
}

std::vector<Tensor> GradientPlaces::wanted() const {
  std::vector<Tensor> result;
  for (const Expr& expr : request_.options().wanted) {
    const NodeId node = expr.node();
    const Type& type = graph_.type(node);
    result.emplace_back(graph_.value_shape(node), type.dtype);
    if (!request_.gets_gradient(node) || !ledger_.is_open(table_.base[at(node)]) || type.elements == 0) continue;
    ledger_.next_step();
    ledger_.complete(node);
    std::memcpy(result.back().data(), ledger_.where(node), static_cast<std::size_t>(graph_.bytes(node)));
  }
  return result;
}

}  // namespace espalier::exec
