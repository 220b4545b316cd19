/// The members of Expr and Graph that run a graph. Declared in graph/, where users look for them; defined here, where
/// the executors are known.
#include <fmt/format.h>

#include <cstring>

#include "espalier/base/error.h"
#include "espalier/exec/executor.h"
#include "espalier/exec/explain_plan.h"
#include "espalier/exec/traced.h"

namespace espalier {
namespace {

NodeId node_in(const Graph& graph, std::string_view what, const Expr& expr) {
  if (&expr.graph() != &graph) throw UsageError(fmt::format("{}: an Expr belongs to another graph", what));
  return expr.node();
}

std::vector<NodeId> nodes_in(const Graph& graph, std::string_view what, std::span<const Expr> exprs) {
  std::vector<NodeId> nodes;
  nodes.reserve(exprs.size());
  for (const Expr& expr : exprs) nodes.push_back(node_in(graph, what, expr));
  return nodes;
}

/// The time that a caller waits, and before it the time in which the graph was recorded.
class CallTimer {
 public:
  CallTimer(const Graph& graph, exec::Executor& executor, std::string_view name)
      : timer_(
            Trace::is_on(), [&] { return call(graph, executor); }, name) {}

 private:
  /// The span of the call, which begins when that of recording has ended.
  static TimeSpan call(const Graph& graph, exec::Executor& executor) {
    const Statistics counts = graph.statistics();
    TimeSpan recording = exec::span_of(graph, Doing::kRecording, counts.runs);
    if (const double seconds = executor.take_recording(counts.seconds.recording); seconds > 0) {
      recording.end = Trace::now();
      recording.begin = recording.end - static_cast<std::int64_t>(seconds * 1e9);
      Trace::add(recording, {});
    }
    return exec::span_of(graph, Doing::kCall, counts.runs);
  }

  SpanTimer timer_;
};

}  // namespace

Tensor Expr::value() const {
  Graph& in = graph();
  exec::Executor& executor = exec::Executor::of(in);
  in.stop_recording();
  const CallTimer timer(in, executor, "value");
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
  const CallTimer timer(in, executor, "backward");
  executor.differentiate(node(), options);
}

Tensor Expr::grad() const {
  Graph& in = graph();
  if (const Tensor* gradient = exec::Executor::of(in).wanted(node())) return *gradient;
  throw UsageError(fmt::format("grad: the gradient of {} was not asked for\n  hint: loss.backward({{.wanted = {{x}}}})",
                               in.describe(node())));
}

void Graph::compute(std::span<const Expr> exprs) {
  const std::vector<NodeId> nodes = nodes_in(*this, "compute", exprs);
  exec::Executor& executor = exec::Executor::of(*this);
  stop_recording();
  const CallTimer timer(*this, executor, "compute");
  executor.compute(nodes);
}

void Graph::finish(std::span<const Expr> outputs) {
  const std::vector<NodeId> nodes = nodes_in(*this, "finish", outputs);
  exec::Executor& executor = exec::Executor::of(*this);
  stop_recording();
  const CallTimer timer(*this, executor, "finish");
  executor.finish(nodes);
}

std::string explain_plan(std::span<const Expr> outputs, RunKind kind) {
  if (outputs.empty()) throw UsageError("explain_plan: no Expr was given");
  Graph& graph = outputs[0].graph();
  const std::vector<NodeId> nodes = nodes_in(graph, "explain_plan", outputs);
  if (graph.statistics().runs > 0)
    throw UsageError(
        "explain_plan: values of this graph were computed already\n"
        "  hint: call it before the first value(), backward() or finish(); Graph::explain() says what ran");
  exec::Executor& executor = exec::Executor::of(graph);
  graph.stop_recording();
  return executor.explain_plan(nodes, kind);
}

Batches read_batches(const Graph& graph) {
  if (graph.runtime() == nullptr) return {};
  Batches batches = static_cast<const exec::Executor&>(*graph.runtime()).batches();
  batches.statistics = graph.statistics();
  return batches;
}

std::vector<StrategyCounts> compare_strategies(const Graph& graph) {
  if (graph.runtime() == nullptr) return {};
  return static_cast<const exec::Executor&>(*graph.runtime()).compare_strategies();
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
