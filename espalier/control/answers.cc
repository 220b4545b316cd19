#include "espalier/control/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/exec/executor.h"
#include "espalier/ops/dropout.h"

namespace espalier::control {
namespace {

template <class T>
std::span<const T> row_of(const Expr& expr) {
  Graph& graph = expr.graph();
  const std::byte* const value = exec::Executor::of(graph).value(expr.node());
  return {reinterpret_cast<const T*>(value), static_cast<std::size_t>(graph.elements(expr.node()))};
}

template <class T>
std::int64_t argmax_of(std::span<const T> row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

/// Where the running sum of the probabilities passes a uniform number.
template <class T>
std::int64_t sample_of(std::span<const T> row, double uniform) {
  const double most = static_cast<double>(*std::max_element(row.begin(), row.end()));
  double total = 0;
  for (const T score : row) total += std::exp(static_cast<double>(score) - most);
  double left = uniform * total;
  std::int64_t last = 0;  // with a probability above zero
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double share = std::exp(static_cast<double>(row[i]) - most);
    if (share > 0) last = static_cast<std::int64_t>(i);
    left -= share;
    if (left < 0) break;
  }
  return last;
}

double uniform_of(const Ask& ask) {
  Graph& graph = *ask.instance->graph;
  const std::array<std::uint32_t, 4> words =
      ops::DropoutFields::at(graph.options().seed, graph.step(), ask.place).words(0);
  return uniform_double(words[0], words[1]);
}

template <class T>
std::int64_t choose_from(const Ask& ask) {
  const std::span<const T> row = row_of<T>(ask.expr);
  return ask.kind == Ask::Kind::kArgmax ? argmax_of(row) : sample_of(row, uniform_of(ask));
}

void require_graph(const Expr& expr, const Ask& ask) {
  Graph& graph = expr.graph();
  if (&graph == ask.instance->graph) return;
  throw UsageError(
      fmt::format("co_await: {} belongs to another graph than that of its instance\n"
                  "  hint: an instance records in the graph that its function is given; carry values with value()",
                  graph.describe(expr.node())));
}

}  // namespace

void require_answerable(const Ask& ask) {
  for (const Expr* expr : ask.carried) require_graph(*expr, ask);
  if (ask.kind == Ask::Kind::kCarry) return;
  require_graph(ask.expr, ask);
  if (ask.kind == Ask::Kind::kValue) return;
  const Graph& graph = *ask.instance->graph;
  const NodeId node = ask.expr.node();
  const std::string_view what = ask.kind == Ask::Kind::kArgmax ? "argmax" : "sample";
  if (graph.rows(node) != 1 || graph.elements(node) == 0)
    throw UsageError(fmt::format("{}: one row of scores is expected, and {} is {}\n  hint: row(x, i) is one of many",
                                 what, graph.describe(node), graph.type_text(node)));
}

std::int64_t choose(const Ask& ask) {
  return ask.expr.dtype() == DType::kFloat64 ? choose_from<double>(ask) : choose_from<float>(ask);
}

Tensor value_of(const Expr& expr) {
  Graph& graph = expr.graph();
  Tensor result(graph.value_shape(expr.node()), expr.dtype());
  std::memcpy(result.data(), exec::Executor::of(graph).value(expr.node()), result.bytes());
  return result;
}

double number_of(const Expr& expr) {
  const Graph& graph = expr.graph();
  const Type& type = graph.type(expr.node());
  if (graph.elements(expr.node()) != 1)
    throw UsageError(fmt::format("number: one element is expected, and {} is {}", graph.describe(expr.node()),
                                 graph.type_text(expr.node())));
  return type.dtype == DType::kFloat64 ? row_of<double>(expr)[0] : static_cast<double>(row_of<float>(expr)[0]);
}

Expr copy_to(Graph& graph, const Expr& expr) {
  const Graph& from = expr.graph();
  const Tensor value = value_of(expr);
  if (!from.is_many(expr.node())) return graph.input(value);
  if (value.dtype() != DType::kFloat32)
    throw UsageError(fmt::format("carry: {} is {}; many rows are carried in float32", from.describe(expr.node()),
                                 from.type_text(expr.node())));
  return graph.rows(from.type(expr.node()).shape, value.as<float>());
}

}  // namespace espalier::control
