/// Lets an operand of rank 0 stand beside any shape in the elementwise ops of two operands.
#pragma once

#include "espalier/ops/broadcast.h"
#include "espalier/ops/op.h"

namespace espalier::ops {

/// Records `op` on operands of different types: one of rank 0 is broadcast to the other's shape, anything else refused.
inline Expr record_stretched(const OpInfo& info, const void* attrs, const void* fields, Graph& graph,
                             std::array<Operand, 2> operands) {
  if (graph.holds(operands[0]) && graph.holds(operands[1]) && operands[0].dtype() == operands[1].dtype()) {
    const Shape shapes[] = {operands[0].shape(), operands[1].shape()};
    for (std::size_t i = 0; i < 2; ++i) {
      if (shapes[i].rank() != 0 || shapes[1 - i].rank() == 0) continue;
      Operand& scalar = operands[i];
      if (scalar.parameter() != nullptr) scalar = scalar.at(graph.parameter(*scalar.parameter()));
      scalar = scalar.at(broadcast(scalar, shapes[1 - i]));
    }
  }
  return graph.record(info, attrs, fields, operands);
}

template <class Op>
Expr record_broadcasting(const Operand& a, const Operand& b) {
  const OpInfo& info = info_of<Op>();
  const std::array operands{a, b};
  Graph& graph = graph_of(info, operands);
  const typename Op::Attrs attrs{};
  const typename Op::Fields fields{};
  if (graph.owns(a.expr()) && graph.owns(b.expr()) && graph.type_id(a.expr().node()) == graph.type_id(b.expr().node()))
    return graph.record(info, &attrs, &fields, operands);
  return record_stretched(info, &attrs, &fields, graph, operands);
}

}  // namespace espalier::ops
