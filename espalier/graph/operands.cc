/// How an operand finds its graph and its node, and what is refused as one.
#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"

namespace espalier {
namespace {

[[noreturn]] void refuse_stale(std::string_view what, std::string_view name, NodeId node, std::string_view at) {
  throw UsageError(
      fmt::format("{0}: {1} belongs to a graph that was cleared or destroyed\n  {1}: node {2}{3}\n"
                  "  hint: an Expr lives as long as its Graph; keep {1}.value() to carry a result further",
                  what, name, index_of(node), at));
}

}  // namespace

[[gnu::noinline]] NodeId Recorder::node_of(const OpInfo& info, std::size_t position, const Operand& operand) {
  if (operand.parameter() == nullptr) refuse_operand(info, position, operand.expr(), operand.where());
  if (operand.parameter()->is_destroyed()) refuse_destroyed(info.name, *operand.parameter(), operand.where());
  return record_parameter(*operand.parameter()).node();
}

void Recorder::refuse_operand(const OpInfo& info, std::size_t position, const Expr& expr, SourceLine where) const {
  const std::string name = info.operand_name(position);
  if (expr.slot() == nullptr)
    throw UsageError(
        fmt::format("{}: {} is an Expr that no operation made\n  at {}", info.name, name, where.to_string()));
  if (expr.slot()->generation.load(std::memory_order_acquire) != expr.generation())
    refuse_stale(info.name, name, expr.node(), "\n  at " + where.to_string());
  // Either graph may be that of the cell: an op takes the graph of its first operand.
  const Graph& other = *expr.slot()->graph.load(std::memory_order_acquire);
  if (is_trace() || other.is_trace())
    throw CellError(
        fmt::format("cell \"{}\": its function uses an Expr that it was not given; make it an input\n"
                    "  in {}\n  at {}",
                    is_trace() ? trace_ : other.trace_, info.name, where.to_string()));
  throw UsageError(fmt::format("{}: {} belongs to another graph\n  {}: node {} of that graph\n  at {}", info.name, name,
                               name, index_of(expr.node()), where.to_string()));
}

Graph& find_graph(const OpInfo& info, std::span<const Operand> operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].parameter() != nullptr) continue;
    const Expr& expr = operands[i].expr();
    if (expr.slot() != nullptr && expr.slot()->generation.load(std::memory_order_acquire) == expr.generation())
      return *expr.slot()->graph.load(std::memory_order_acquire);
    const std::string at = "\n  at " + operands[i].where().to_string();
    if (expr.slot() == nullptr)
      throw UsageError(fmt::format("{}: {} is an Expr that no operation made{}", info.name, info.operand_name(i), at));
    refuse_stale(info.name, info.operand_name(i), expr.node(), at);
  }
  throw UsageError(fmt::format("{}: no operand belongs to a graph; pass parameters as graph.parameter(p){}", info.name,
                               operands.empty() ? "" : "\n  at " + operands[0].where().to_string()));
}

Graph& graph_of(const OpInfo& info, const Operands& operands) {
  if (operands.list().empty())
    throw UsageError(fmt::format("{}: needs at least one operand\n  at {}", info.name, operands.where().to_string()));
  const Operand first(operands.list()[0], operands.where());
  return find_graph(info, std::span<const Operand>(&first, 1));
}

Graph& Expr::graph() const {
  if (slot() == nullptr) throw UsageError("expr: this Expr was made by no operation");
  if (slot()->generation.load(std::memory_order_acquire) != generation()) refuse_stale("expr", "x", node(), "");
  return *slot()->graph.load(std::memory_order_acquire);
}

const Shape& Expr::shape() const { return graph().type(node()).shape; }

DType Expr::dtype() const { return graph().type(node()).dtype; }

std::int32_t Expr::row_count() const { return graph().rows(node()); }

bool Expr::has_many_rows() const { return graph().is_many(node()); }

const Shape& Operand::shape() const { return parameter() != nullptr ? parameter()->shape() : expr_.shape(); }

DType Operand::dtype() const { return parameter() != nullptr ? parameter()->value().dtype() : expr_.dtype(); }

}  // namespace espalier
