/// What the cells share: gates that lie side by side in one parameter, and the user's line for every op of a cell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/base/shape.h"
#include "espalier/base/source_line.h"
#include "espalier/cells/cell.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"

namespace espalier::nn::detail {

/// Makes operands that carry the line of the user who called the layer.
struct At {
  SourceLine where;
  Operand operator()(const Expr& expr) const { return {expr, where}; }
  Operand operator()(const Parameter* parameter) const { return {parameter, where}; }
  Operands operator()(std::span<const Expr> list) const { return {list, where}; }
};

/// Gates `first` up to `first + count` of `gates`, which has `hidden` elements a gate.
Expr gate(const Operand& gates, std::int32_t hidden, std::int32_t first, std::int32_t count = 1);

/// Zeros of the parameter's element type.
Expr zeros(Graph& graph, const Shape& shape, const Parameter& like, SourceLine where);

/// Draws every block of [rows, columns] by itself, so that the scale of an initialiser that looks at the shape is that
/// of one gate, not of all of them together.
init::Initializer in_blocks(init::Initializer initializer, std::int32_t rows, std::int32_t columns);

/// Zero, and `value` for gates `first` up to `first + count`.
init::Initializer gate_bias(std::int32_t hidden, std::int32_t first, std::int32_t count, double value);

/// Refuses a size below 1: `lstm "encoder": the hidden size must be at least 1, and 0 was given`.
void require_size(std::string_view layer, const Scope& scope, std::string_view name, std::int64_t size);

/// Records a use of a cell of `n` results whose function is `f(inputs, results)`. An input may be a parameter, as
/// Operand::expr() gives it.
template <std::size_t n, class F>
std::array<Expr, n> record_cell(const cells::Core& core, SourceLine where, std::span<const Expr> inputs, const F& f) {
  std::array<Expr, n> again;
  if (core.record_again(inputs, where, again)) return again;
  OperandList operands;
  for (const Expr& input : inputs) operands.push_back({input, where});
  ExprList results;
  const auto call = [](const void* object, std::span<const Expr> given, ExprList& to) {
    (*static_cast<const F*>(object))(given, to);
  };
  core.record(operands, {&f, call}, results);
  return cells::Results<std::array<Expr, n>>::give(results);
}
template <std::size_t n, class F>
std::array<Expr, n> record_cell(const cells::Core& core, SourceLine where, std::initializer_list<Expr> inputs,
                                const F& f) {
  return record_cell<n>(core, where, std::span<const Expr>(inputs.begin(), inputs.size()), f);
}

}  // namespace espalier::nn::detail
