/// The members of Expr and Graph that run a graph. Declared in graph/, where users look for them; defined here, where
/// the executors are known.
#include <fmt/format.h>

#include <cstring>

#include "espalier/base/error.h"
#include "espalier/exec/executor.h"
#include "espalier/exec/explain_plan.h"

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
  in.stop_recording();
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
  exec::Executor& executor = exec::Executor::of(in);
  in.stop_recording();
  executor.differentiate(node(), options);
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
  exec::Executor& executor = exec::Executor::of(*this);
  stop_recording();
  executor.finish(nodes);
}

std::string explain_plan(std::span<const Expr> outputs, RunKind kind) {
  if (outputs.empty()) throw UsageError("explain_plan: no Expr was given");
  Graph& graph = outputs[0].graph();
  std::vector<NodeId> nodes;
  for (const Expr& output : outputs) nodes.push_back(node_in(graph, "explain_plan", output));
  if (graph.statistics().runs > 0)
    throw UsageError(
        "explain_plan: values of this graph were computed already\n"
        "  hint: call it before the first value(), backward() or finish(); Graph::explain() says what ran");
  exec::Executor& executor = exec::Executor::of(graph);
  graph.stop_recording();
  return executor.explain_plan(nodes, kind);
}

void Graph::keep(const Expr& expr) { exec::Executor::of(*this).keep(node_in(*this, "keep", expr)); }

Statistics Graph::statistics() const {
  Statistics result;
  if (runtime_ != nullptr) result = static_cast<const exec::Executor&>(*runtime_).statistics();
  result.seconds.recording = recording_.seconds();
  return result;
}

std::string Graph::explain() const {
  if (runtime_ == nullptr || statistics().runs == 0)
    return fmt::format("graph of {} nodes, {} instances; nothing was computed yet\n", size(), instances_);
  std::string text = static_cast<const exec::Executor&>(*runtime_).explain();
  if (!notes_.empty()) text += "recorded op by op, and why:\n";
  for (const auto& [uid, sentence] : notes_) text += fmt::format("  {}\n", sentence);
  return text;
}

}  // namespace espalier
