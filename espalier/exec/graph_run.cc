/// The members of Expr and Graph that run a graph. Declared in graph/, where users look for them; defined here, where
/// the executors are known.
#include <fmt/format.h>

#include <cstring>

#include "espalier/base/error.h"
#include "espalier/exec/executor.h"

namespace espalier {
namespace {

NodeId node_in(const Graph& graph, std::string_view what, const Expr& expr) {
  if (&expr.graph() != &graph) throw UsageError(fmt::format("{}: an Expr belongs to another graph", what));
  return expr.node();
}

}  // namespace

Tensor Expr::value() const {
  Graph& in = graph();
  exec::Executor& executor = exec::Executor::of(in);
  const NodeId self = node();
  executor.compute({&self, 1});
  const Type& type = in.type(self);
  Tensor result(in.value_shape(self), type.dtype);
  std::memcpy(result.data(), executor.value(self), result.bytes());
  return result;
}

double Expr::scalar() const { return value().item(); }

void Expr::backward(const BackwardOptions& options) const {
  Graph& in = graph();
  exec::Executor::of(in).differentiate(node(), options);
}

Tensor Expr::grad() const {
  Graph& in = graph();
  if (const Tensor* gradient = exec::Executor::of(in).wanted(node())) return *gradient;
  throw UsageError(fmt::format("grad: the gradient of {} was not asked for\n  hint: loss.backward({{.wanted = {{x}}}})",
                               in.describe(node())));
}

void Graph::finish(std::span<const Expr> outputs) {
  std::vector<NodeId> nodes;
  for (const Expr& output : outputs) nodes.push_back(node_in(*this, "finish", output));
  exec::Executor::of(*this).finish(nodes);
}

void Graph::keep(const Expr& expr) { exec::Executor::of(*this).keep(node_in(*this, "keep", expr)); }

void Graph::use_current_parameters() {
  if (statistics().runs > 0)
    throw UsageError(
        "use_current_parameters: values of this graph were computed already\n"
        "  hint: call it before the first value(), backward() or finish()");
  parameters_.for_each_node([&](NodeId node) {
    const Parameter* const parameter = parameter_of(node);
    // Of another type by now: it stays as it was recorded, and running it is refused.
    if (parameter == nullptr || parameter->value().dtype() != type(node).dtype) return;
    const ParameterFields fields{parameter, parameter->version()};
    std::memcpy(fields_.data() + begin_[at(node)].fields, &fields, sizeof(fields));
  });
}

Statistics Graph::statistics() const {
  return runtime_ == nullptr ? Statistics() : static_cast<const exec::Executor&>(*runtime_).statistics();
}

std::string Graph::explain() const {
  if (runtime_ == nullptr || statistics().runs == 0)
    return fmt::format("graph of {} nodes, {} instances; nothing was computed yet\n", size(), instances_);
  return static_cast<const exec::Executor&>(*runtime_).explain();
}

}  // namespace espalier
