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
  const std::int64_t both = std::int64_t{2} * hidden;  // gates
  const Parameter& b = scope.add("b", {both}, init::zeros());
  const Parameter& b_n = scope.add("b_n", {hidden}, init::zeros());
  for (std::int32_t k = 0; k < options.children; ++k) {
    const std::string number = std::to_string(k);
    units_.push_back({&scope.add("U_" + number, {hidden, both}, gates),
                      &scope.add("N_" + number, {hidden, hidden}, options.init), &b, &b_n});
  }
  const Scope leaf_scope = scope / "leaf";
  leaf_ = {&leaf_scope.add("U", {hidden, both}, gates), &leaf_scope.add("N", {hidden, hidden}, options.init),
           &leaf_scope.add("b", {both}, init::zeros()), &leaf_scope.add("b_n", {hidden}, init::zeros())};
  leaf_cell_ = std::make_shared<const cells::Core>("tree_gru.leaf", CellOptions{.outer = {}, .inputs = {"x"}});
  cell_ = std::make_shared<const cells::Core>("tree_gru", CellOptions{});
  const auto leaf = [unit = leaf_](std::span<const Expr> in) {
    return apply(unit, detail::At{}(in[0]), detail::At{}(in[0]));
  };
  const auto inner = [units = units_](std::span<const Expr> in) { return node(units, detail::At{}(in)); };
  recursion_ = std::make_shared<const Recursion>(
      "tree_gru", std::vector<RecursionKind>{{"leaf", 0, leaf}, {"node", options.children, inner, TakesX::kNo}});
}

Expr TreeGru::rows(Operand x, const Structure& tree) const { return (*recursion_)(x, tree)[0]; }

Expr TreeGru::apply(const Unit& unit, const Operand& h, const Operand& multiplied) {
  const detail::At at{h.where()};
  const std::int32_t size = unit.N->shape()[0];
  const Expr open = sigmoid(at(affine(multiplied, at(unit.U), at(unit.b))));
  const Expr r = detail::gate(at(open), size, 0);
  const Expr z = detail::gate(at(open), size, 1);
  const Expr n = tanh(at(affine(at(mul(at(r), multiplied)), at(unit.N), at(unit.b_n))));
  return add(at(mul(at(z), h)), at(mul(at(one_minus(at(z))), at(n))));
}

Expr TreeGru::node(std::span<const Unit> units, const Operands& children) {
  const detail::At at{children.where()};
  const std::span<const Expr> h = children.list().first(units.size());
  const std::span<const Expr> multiplied = children.list().last(units.size());
  std::vector<Expr> terms(h.size());
  for (std::size_t k = 0; k < h.size(); ++k) terms[k] = apply(units[k], at(h[k]), at(multiplied[k]));
  return scale(at(sum(at(terms))), 1 / static_cast<double>(h.size()));
}

Expr TreeGru::leaf(Operand x) const {
  const detail::At at{x.where()};
  return detail::record_cell(*leaf_cell_, at.where, {x.expr()},
                             [&](std::span<const Expr> in) { return apply(leaf_, at(in[0]), at(in[0])); });
}

Expr TreeGru::operator()(Operand left, Operand right) const {
  const std::array both{left.expr(), right.expr()};
  return (*this)(Operands(both, left.where()));
}

Expr TreeGru::operator()(const Operands& children) const {
  require_children(children);
  return record(children);
}

Expr TreeGru::step(const Operands& children, const RecurrentMask& mask) const {
  require_children(children);
  const detail::At at{children.where()};
  std::vector<Expr> both(children.list().begin(), children.list().end());
  for (const Expr& child : children.list()) both.push_back(mask(at(child)));
  return record(at(both));
}

void TreeGru::require_children(const Operands& children) const {
  if (children.list().size() != units_.size())
    throw UsageError(
        fmt::format("tree gru: {} children are given, and the cell takes {}\n  b: parameter \"{}\"\n"
                    "  at {}",
                    children.list().size(), units_.size(), units_.front().b->name(), children.where().to_string()));
}

Expr TreeGru::record(const Operands& children) const {
  const detail::At at{children.where()};
  return detail::record_cell(*cell_, at.where, children.list(),
                             [&](std::span<const Expr> in) { return node(units_, at(in)); });
}

}  // namespace espalier::nn
