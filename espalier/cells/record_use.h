/// The nodes of a use of what a cell or recursion was compiled to: one, and one for each further result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "espalier/cells/program.h"
#include "espalier/graph/graph.h"

namespace espalier::cells {

/// Attributes of a node: the address of what was compiled, which the graph keeps alive, and of a further result its
/// number.
template <class Made>
struct UseAttrs {
  static_assert(sizeof(const Made*) == kAddressBytes);

  const Made* made = nullptr;
  std::uint32_t number = 0;
  std::uint32_t unused = 0;
};

/// Records a use, with fields for `rows` rows, or for one node that has as many as its operands if `rows` is 0. The
/// further ones of its `results` follow it.
template <class Made>
NodeId record_use(Graph& graph, const std::shared_ptr<const Made>& made, std::size_t results, const void* fields,
                  std::int32_t rows, std::span<const Operand> operands) {
  const std::int32_t known = graph.signatures().size();
  const UseAttrs<Made> attrs{made.get()};
  const Expr first = rows > 0 ? graph.record_rows(made->info(0), &attrs, fields, rows, operands)
                              : graph.record(made->info(0), &attrs, fields, operands);
  const Operand whole(first, operands.front().where());
  for (std::size_t k = 1; k < results; ++k) {
    const UseAttrs<Made> of_result{made.get(), static_cast<std::uint32_t>(k)};
    graph.record(made->info(k), &of_result, nullptr, std::span<const Operand>(&whole, 1));
  }
  if (graph.signatures().size() != known) graph.hold(made);
  return first.node();
}

}  // namespace espalier::cells
