/// Lets an operand of rank 0 stand beside any shape in the elementwise ops of two operands.
#pragma once

#include "espalier/ops/broadcast.h"
#include "espalier/ops/op.h"

namespace espalier::ops {

template <class Op>
Expr record_broadcasting(const Operand& a, const Operand& b) {
  const OpInfo& info = info_of<Op>();
  const std::array operands{a, b};
  Graph& graph = graph_of(info, operands);
  const typename Op::Attrs attrs{};
  const typename Op::Fields fields{};
  if (!graph.holds(a) || !graph.holds(b)) return graph.record(info, &attrs, &fields, operands);  // refuses
  const auto rank_of = [&](const Operand& operand) {
    return operand.parameter() != nullptr ? operand.parameter()->shape().rank()
                                          : graph.type(operand.expr().node()).shape.rank();
  };
  const std::int32_t rank_a = rank_of(a);
  const std::int32_t rank_b = rank_of(b);
  if ((rank_a == 0) == (rank_b == 0)) return graph.record(info, &attrs, &fields, operands);
  const auto stretched = [&](const Operand& scalar, const Operand& other) {
    const Operand on_graph = scalar.parameter() == nullptr ? scalar : scalar.at(graph.parameter(*scalar.parameter()));
    return scalar.at(broadcast(on_graph, other.shape()));
  };
  const std::array same{rank_a == 0 ? stretched(a, b) : a, rank_b == 0 ? stretched(b, a) : b};
  return graph.record(info, &attrs, &fields, same);
}

}  // namespace espalier::ops
