#include "espalier/nn/tree_gru.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/add.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/one_minus.h"
#include "espalier/ops/scale.h"
#include "espalier/ops/sigmoid.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/tanh.h"

namespace espalier::nn {

TreeGru::TreeGru(const Scope& scope, std::int32_t hidden, const TreeGruOptions& options) {
  detail::require_size("tree gru", scope, "the hidden size", hidden);
  detail::require_size("tree gru", scope, "the number of children", options.children);
  const init::Initializer gates = detail::in_blocks(options.init, hidden, hidden);
  const Parameter& b = scope.add("b", {2 * hidden}, init::zeros());
  const Parameter& b_n = scope.add("b_n", {hidden}, init::zeros());
  for (std::int32_t k = 0; k < options.children; ++k) {
    const std::string number = std::to_string(k);
    units_.push_back({&scope.add("U_" + number, {hidden, 2 * hidden}, gates),
                      &scope.add("N_" + number, {hidden, hidden}, options.init), &b, &b_n});
  }
  const Scope leaf_scope = scope / "leaf";
  leaf_ = {&leaf_scope.add("U", {hidden, 2 * hidden}, gates), &leaf_scope.add("N", {hidden, hidden}, options.init),
           &leaf_scope.add("b", {2 * hidden}, init::zeros()), &leaf_scope.add("b_n", {hidden}, init::zeros())};
  leaf_cell_ = std::make_shared<const cells::Core>("tree_gru.leaf", CellOptions{.outer = {}, .inputs = {"x"}});
  cell_ = std::make_shared<const cells::Core>("tree_gru", CellOptions{});
}

Expr TreeGru::apply(const Unit& unit, const Operand& h) {
  const detail::At at{h.where()};
  const std::int32_t size = unit.N->shape()[0];
  const Expr open = sigmoid(at(affine(h, at(unit.U), at(unit.b))));
  const Expr r = detail::gate(at(open), size, 0);
  const Expr z = detail::gate(at(open), size, 1);
  const Expr n = tanh(at(affine(at(mul(at(r), h)), at(unit.N), at(unit.b_n))));
  return add(at(mul(at(z), h)), at(mul(at(one_minus(at(z))), at(n))));
}

Expr TreeGru::leaf(Operand x) const {
  const detail::At at{x.where()};
  const auto equations = [&](std::span<const Expr> in, ExprList& results) { results = {apply(leaf_, at(in[0]))}; };
  return detail::record_cell<1>(*leaf_cell_, at.where, {x.expr()}, equations)[0];
}

Expr TreeGru::operator()(Operand left, Operand right) const {
  const std::array both{left.expr(), right.expr()};
  return (*this)(Operands(both, left.where()));
}

Expr TreeGru::operator()(const Operands& children) const {
  const std::span<const Expr> list = children.list();
  const detail::At at{children.where()};
  if (list.size() != units_.size())
    throw UsageError(
        fmt::format("tree gru: {} children are given, and the cell takes {}\n  b: parameter \"{}\"\n"
                    "  at {}",
                    list.size(), units_.size(), units_.front().b->name(), at.where.to_string()));
  const auto equations = [&](std::span<const Expr> in, ExprList& results) {
    std::vector<Expr> terms(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) terms[k] = apply(units_[k], at(in[k]));
    results = {scale(at(sum(at(terms))), 1 / static_cast<double>(in.size()))};
  };
  return detail::record_cell<1>(*cell_, at.where, list, equations)[0];
}

}  // namespace espalier::nn
