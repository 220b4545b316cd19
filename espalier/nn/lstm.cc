#include "espalier/nn/lstm.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/nn/gates.h"
#include "espalier/ops/add.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/join_rows.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/row.h"

namespace espalier::nn {
namespace {

constexpr std::int64_t kLstmGates = 4;
constexpr std::int32_t kForgetGate = 1;

/// The kinds of rows of a BiLstm.
constexpr KindId kForward{0};
constexpr KindId kBackward{1};

/// h and c.
std::vector<Shape> state_shapes(std::int32_t hidden) { return {{hidden}, {hidden}}; }

}  // namespace

LstmCell::LstmCell(const Scope& scope, std::int32_t input, std::int32_t hidden, const LstmOptions& options) {
  detail::require_size("lstm", scope, "the input size", input);
  detail::require_size("lstm", scope, "the hidden size", hidden);
  w_ = &scope.add("W", {input, kLstmGates * hidden}, detail::in_blocks(options.init, input, hidden));
  u_ = &scope.add("U", {hidden, kLstmGates * hidden}, detail::in_blocks(options.init, hidden, hidden));
  b_ = &scope.add("b", {kLstmGates * hidden}, detail::gate_bias(hidden, kForgetGate, 1, options.forget_bias));
  // The product with x needs no state: it can run for a whole sequence at once.
  cell_ = std::make_shared<const cells::Core>("lstm", CellOptions{.outer = {0}, .inputs = {"x", "h", "c"}});
  recursion_ = std::make_shared<const Recursion>("lstm", std::vector{kind()}, state_shapes(hidden));
}

RecursionKind LstmCell::kind(std::string name) const {
  return {std::move(name), 1, [cell = *this](std::span<const Expr> in) { return cell.step(in, {}); }};
}

/// Of x, h and c.
LstmState LstmCell::step(std::span<const Expr> in, SourceLine where) const {
  const detail::At at{where};
  const Expr of_x = affine(at(in[0]), at(w_), at(b_));  // before that of h: it runs for the whole sequence at once
  const Expr gates = add(at(of_x), at(linear(at(in[1]), at(u_))));
  return detail::lstm_state(at, gates, {hidden(), 0, kForgetGate, 2, 3}, in.subspan(2));
}

LstmState LstmCell::initial(Graph& graph, const char* file, std::int32_t line) const {
  const Expr zero = detail::zeros(graph, {hidden()}, *u_, {file, line});
  return {zero, zero};
}

LstmState LstmCell::operator()(Operand x, const State& state) const {
  return detail::record_cell(*cell_, x.where(), {x.expr(), state.h, state.c},
                             [&](std::span<const Expr> in) { return step(in, x.where()); });
}

LstmState LstmCell::rows(Operand x, bool from_end) const {
  thread_local Structure sequence;  // its memory serves the next
  sequence.clear();
  sequence.add_sequence(x.expr().row_count(), KindId{0}, from_end);
  const std::vector<Expr> states = (*recursion_)(x, sequence);
  return {states[0], states[1]};
}

BiLstm::BiLstm(const Scope& scope, std::int32_t input, std::int32_t hidden, const LstmOptions& options)
    : forward_(scope / "forward", input, hidden, options),
      backward_(scope / "backward", input, hidden, options),
      recursion_(std::make_shared<const Recursion>(
          "bilstm", std::vector{forward_.kind("forward"), backward_.kind("backward")}, state_shapes(hidden))) {}

/// Both directions in one structure, the rows of an element beside each other: joined, they are the result.
Expr BiLstm::rows(Operand x) const {
  thread_local Structure both;  // its memory serves the next
  both.clear();
  const std::int32_t length = x.expr().row_count();
  for (std::int32_t t = 0; t < length; ++t) {
    both.add(kForward, t, {t > 0 ? 2 * (t - 1) : Structure::kMissing});
    both.add(kBackward, t, {t + 1 < length ? 2 * (t + 1) + 1 : Structure::kMissing});
  }
  return join_rows(detail::At{x.where()}((*recursion_)(x, both)[0]), 2);
}

std::vector<Expr> BiLstm::operator()(const Operands& sequence) const {
  const std::span<const Expr> x = sequence.list();
  if (x.empty()) return {};
  const auto is_many = [](const Expr& each) { return each.graph().is_many(each.node()); };
  // Cells refuse elements of many rows, beside a state of one, and tell where they are from.
  if (x[0].graph().options().expand_cells || std::any_of(x.begin(), x.end(), is_many)) return cell_by_cell(sequence);
  const detail::At at{sequence.where()};
  const Expr all = rows(at(espalier::rows(sequence)));
  std::vector<Expr> y;
  y.reserve(x.size());
  for (std::int32_t t = 0; t < all.row_count(); ++t) y.push_back(row(at(all), t));
  return y;
}

std::vector<Expr> BiLstm::cell_by_cell(const Operands& sequence) const {
  const std::span<const Expr> x = sequence.list();
  const detail::At at{sequence.where()};
  const std::size_t length = x.size();
  Graph& graph = x.front().graph();
  LstmState left = forward_.initial(graph, at.where.file(), at.where.line());
  LstmState right = backward_.initial(graph, at.where.file(), at.where.line());
  std::vector<Expr> from_left(length);
  std::vector<Expr> from_right(length);
  for (std::size_t t = 0; t < length; ++t) {
    left = forward_(at(x[t]), left);
    from_left[t] = left.h;
    right = backward_(at(x[length - 1 - t]), right);
    from_right[length - 1 - t] = right.h;
  }
  std::vector<Expr> y(length);
  for (std::size_t t = 0; t < length; ++t) {
    const std::array both{from_left[t], from_right[t]};
    y[t] = concat(at(std::span<const Expr>(both)), 0);
  }
  return y;
}

}  // namespace espalier::nn
