/// Shared by the cells: gates side by side in one parameter, and the caller's line for every op of a cell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "espalier/base/shape.h"
#include "espalier/base/source_line.h"
#include "espalier/cells/cell.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"
#include "espalier/nn/state.h"

namespace espalier::nn::detail {

/// Makes operands that carry the line of the user who called the layer.
struct At {
  SourceLine where;
  Operand operator()(const Expr& expr) const { return {expr, where}; }
  Operand operator()(const Parameter* parameter) const { return {parameter, where}; }
  Operands operator()(std::span<const Expr> list) const { return {list, where}; }
};

/// Gates `first` up to `first + count` of `gates`, which has `hidden` elements per gate.
Expr gate(const Operand& gates, std::int32_t hidden, std::int32_t first, std::int32_t count = 1);

/// Zeros of the parameter's element type.
Expr zeros(Graph& graph, const Shape& shape, const Parameter& like, SourceLine where);

/// Draws every block of [rows, columns] by itself, so that the scale of an initialiser that looks at the shape is that
/// of one gate, not of all of them together.
init::Initializer in_blocks(init::Initializer initializer, std::int64_t rows, std::int64_t columns);

/// Zero, and `value` for gates `first` up to `first + count`.
init::Initializer gate_bias(std::int32_t hidden, std::int32_t first, std::int32_t count, double value);

/// Refuses a size below 1: `lstm "encoder": the hidden size must be at least 1, and 0 was given`.
void require_size(std::string_view layer, const Scope& scope, std::string_view name, std::int64_t size);

/// Where the gates of an LSTM lie side by side, each `size` wide. `forget` is the first of one per memory.
struct LstmGates {
  std::int32_t size, input, forget, output, update;
};
/// c = sigmoid(input) * tanh(update) + sum over k of sigmoid(forget + k) * memories[k]  (+ kept, if given)
/// h = sigmoid(output) * tanh(c)
LstmState lstm_state(const At& at, const Expr& gates, const LstmGates& places, std::span<const Expr> memories,
                     const Expr* kept = nullptr);

/// Records a use of a cell whose function is `f(inputs)`, and returns what f returns. An input may be a parameter, as
/// Operand::expr() gives it.
template <class F>
auto record_cell(const cells::Core& core, SourceLine where, std::span<const Expr> inputs, const F& f) {
  using Results = cells::Results<decltype(f(inputs))>;
  std::array<Expr, Results::kCount> again;
  if (core.record_again(inputs, where, again)) return Results::give(again);
  OperandList operands;
  for (const Expr& input : inputs) operands.push_back({input, where});
  ExprList results;
  const auto call = [](const void* object, std::span<const Expr> given, ExprList& to) {
    Results::take((*static_cast<const F*>(object))(given), to);
  };
  core.record(operands, {&f, call}, results);
  return Results::give(results);
}
template <class F>
auto record_cell(const cells::Core& core, SourceLine where, std::initializer_list<Expr> inputs, const F& f) {
  return record_cell(core, where, std::span<const Expr>(inputs.begin(), inputs.size()), f);
}

}  // namespace espalier::nn::detail
