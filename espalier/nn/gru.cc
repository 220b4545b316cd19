#include "espalier/nn/gru.h"

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/nn/gates.h"
#include "espalier/ops/add.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/one_minus.h"
#include "espalier/ops/sigmoid.h"
#include "espalier/ops/tanh.h"

namespace espalier::nn {
namespace {

constexpr std::int64_t kGruGates = 3;

/// The state that both products make of the state before.
Expr gru_state(const detail::At& at, const Expr& from_x, const Expr& from_h, const Expr& before) {
  const std::int32_t size = before.shape()[0];
  const Expr open =
      sigmoid(at(add(at(detail::gate(at(from_x), size, 0, 2)), at(detail::gate(at(from_h), size, 0, 2)))));
  const Expr r = detail::gate(at(open), size, 0);
  const Expr z = detail::gate(at(open), size, 1);
  const Expr reset = mul(at(r), at(detail::gate(at(from_h), size, 2)));
  const Expr n = tanh(at(add(at(detail::gate(at(from_x), size, 2)), at(reset))));
  return add(at(mul(at(one_minus(at(z))), at(n))), at(mul(at(z), at(before))));
}

}  // namespace

GruCell::GruCell(const Scope& scope, std::int32_t input, std::int32_t hidden, const GruOptions& options) {
  detail::require_size("gru", scope, "the input size", input);
  detail::require_size("gru", scope, "the hidden size", hidden);
  w_ = &scope.add("W", {input, kGruGates * hidden}, detail::in_blocks(options.init, input, hidden));
  b_ = &scope.add("b", {kGruGates * hidden}, init::zeros());
  u_ = &scope.add("U", {hidden, kGruGates * hidden}, detail::in_blocks(options.init, hidden, hidden));
  b_h_ = &scope.add("b_h", {kGruGates * hidden}, init::zeros());
  cell_ = std::make_shared<const cells::Core>("gru", CellOptions{.outer = {0}, .inputs = {"x", "h", "masked h"}});
  recursion_ = std::make_shared<const Recursion>("gru", std::vector{kind()}, std::vector<Shape>{{hidden}});
}

Expr GruCell::initial(Graph& graph, const char* file, std::int32_t line) const {
  return detail::zeros(graph, {hidden()}, *u_, {file, line});
}

RecursionKind GruCell::kind(std::string name) const {
  return {std::move(name), 1, [cell = *this](std::span<const Expr> in) { return cell.next(in, {}); }};
}

Expr GruCell::next(std::span<const Expr> in, SourceLine where) const {
  const detail::At at{where};
  const Expr from_x = affine(at(in[0]), at(w_), at(b_));
  return gru_state(at, from_x, affine(at(in.back()), at(u_), at(b_h_)), in[1]);
}

Expr GruCell::rows(Operand x, bool from_end) const {
  thread_local Structure sequence;  // reuses its memory
  sequence.clear();
  sequence.add_sequence(x.expr().row_count(), KindId{0}, from_end);
  return (*recursion_)(x, sequence)[0];
}

Expr GruCell::operator()(Operand x, Operand h) const { return record(x, {x.expr(), h.expr()}); }

Expr GruCell::step(Operand x, Operand h, const RecurrentMask& mask) const {
  const Expr masked = mask(h);
  if (h.parameter() == nullptr && masked.node() == h.expr().node()) return (*this)(x, h);
  return record(x, {x.expr(), h.expr(), masked});
}

Expr GruCell::record(const Operand& x, std::initializer_list<Expr> inputs) const {
  return detail::record_cell(*cell_, x.where(), inputs, [&](std::span<const Expr> in) { return next(in, x.where()); });
}

}  // namespace espalier::nn
