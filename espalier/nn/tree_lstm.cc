#include "espalier/nn/tree_lstm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/add.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/linear.h"

namespace espalier::nn {
namespace {

constexpr std::int64_t kLeafGates = 3;
constexpr std::int32_t kFirstForgetGate = 2;

/// The state that the gates of a node make of the memories of its children, of which a leaf has none.
TreeState tree_state(const detail::At& at, const Expr& gates, std::span<const Expr> memories) {
  const auto n = static_cast<std::int32_t>(memories.size());
  const auto hidden = static_cast<std::int32_t>(gates.shape()[0] / (kLeafGates + n));
  return detail::lstm_state(at, gates, {hidden, 0, kFirstForgetGate, 1, kFirstForgetGate + n}, memories);
}

}  // namespace

NaryTreeLstm::NaryTreeLstm(const Scope& scope, std::int32_t input, std::int32_t hidden, std::int32_t children,
                           const TreeLstmOptions& options)
    : hidden_(hidden), children_(children) {
  detail::require_size("tree lstm", scope, "the input size", input);
  detail::require_size("tree lstm", scope, "the hidden size", hidden);
  detail::require_size("tree lstm", scope, "the number of children", children);
  const Scope leaf_scope = scope / "leaf";
  leaf_w_ = &leaf_scope.add("W", {input, kLeafGates * hidden}, detail::in_blocks(options.init, input, hidden));
  leaf_b_ = &leaf_scope.add("b", {kLeafGates * hidden}, init::zeros());
  const std::int64_t width = (kLeafGates + children) * hidden;
  const std::int64_t all_hidden = std::int64_t{children} * hidden;
  u_ = &scope.add("U", {all_hidden, width}, detail::in_blocks(options.init, all_hidden, hidden));
  b_ = &scope.add("b", {width}, detail::gate_bias(hidden, kFirstForgetGate, children, options.forget_bias));
  if (options.node_input != 0) {
    detail::require_size("tree lstm", scope, "the input size of nodes", options.node_input);
    w_ = &scope.add("W", {options.node_input, width}, detail::in_blocks(options.init, options.node_input, hidden));
  }
  leaf_cell_ = std::make_shared<const cells::Core>("tree_lstm.leaf", CellOptions{.outer = {}, .inputs = {"x"}});
  // An input of nodes comes behind the states of the children.
  CellOptions cell;
  for (std::int32_t k = 0; k < children; ++k) cell.inputs.push_back("h" + std::to_string(k));
  for (std::int32_t k = 0; k < children; ++k) cell.inputs.push_back("c" + std::to_string(k));
  cell.inputs.emplace_back("x");
  if (w_ != nullptr) cell.outer = {2 * static_cast<std::size_t>(children)};
  cell_ = std::make_shared<const cells::Core>("tree_lstm", std::move(cell));
  if (w_ == nullptr) make_recursion();
}

TreeState NaryTreeLstm::leaf_state(const Expr& x, SourceLine where) const {
  const detail::At at{where};
  return tree_state(at, affine(at(x), at(leaf_w_), at(leaf_b_)), {});
}

TreeState NaryTreeLstm::node_state(std::span<const Expr> h, std::span<const Expr> c, const Expr* x,
                                   SourceLine where) const {
  const detail::At at{where};
  Expr gates = affine(at(concat(at(h), 0)), at(u_), at(b_));
  if (x != nullptr) gates = add(at(gates), at(linear(at(*x), at(w_))));
  return tree_state(at, gates, c);
}

void NaryTreeLstm::make_recursion() {
  const auto leaf = [cell = *this](std::span<const Expr> in) { return cell.leaf_state(in[0], {}); };
  const auto node = [cell = *this](std::span<const Expr> in) {
    ExprList h;
    ExprList c;
    for (std::size_t i = 0; i < in.size(); ++i) (i % 2 == 0 ? h : c).push_back(in[i]);
    return cell.node_state(h, c, nullptr, {});
  };
  recursion_ = std::make_shared<const Recursion>(
      "tree_lstm", std::vector<RecursionKind>{{"leaf", 0, leaf}, {"node", children_, node, TakesX::kNo}});
}

TreeState NaryTreeLstm::rows(Operand x, const Structure& tree) const {
  if (recursion_ == nullptr)
    throw UsageError(
        fmt::format("tree lstm: nodes of this cell have an input; rows() is for cells without\n"
                    "  U: parameter \"{}\"\n  at {}",
                    u_->name(), x.where().to_string()));
  const std::vector<Expr> states = (*recursion_)(x, tree);
  return {states[0], states[1]};
}

TreeState NaryTreeLstm::leaf(Operand x) const {
  return detail::record_cell(*leaf_cell_, x.where(), {x.expr()},
                             [&](std::span<const Expr> in) { return leaf_state(in[0], x.where()); });
}

TreeState NaryTreeLstm::operator()(const Children& children) const { return node(nullptr, children); }

TreeState NaryTreeLstm::operator()(Operand x, const Children& children) const {
  return node(&x, Children(children.list(), x.where()));
}

TreeState NaryTreeLstm::node(const Operand* x, const Children& given) const {
  const std::span<const TreeState> list = given.list();
  const detail::At at{given.where()};
  const auto refuse = [&](const std::string& sentence) {
    throw UsageError(
        fmt::format("tree lstm: {}\n  U: parameter \"{}\"\n  at {}", sentence, u_->name(), at.where.to_string()));
  };
  const auto n = static_cast<std::size_t>(children_);
  if (list.size() > n) refuse(fmt::format("{} children are given, and the cell takes {}", list.size(), n));
  if (x == nullptr && w_ != nullptr) refuse("nodes of this cell have an input, and none is given");
  if (x != nullptr && w_ == nullptr) refuse("nodes of this cell have no input, and one is given");

  const auto given_child =
      std::find_if(list.begin(), list.end(), [](const TreeState& child) { return !child.missing(); });
  if (given_child == list.end()) refuse("no child is given; a node without children is a leaf");
  ExprList inputs;
  const auto add_states = [&](Expr TreeState::*part) {
    for (std::size_t k = 0; k < n; ++k) {
      const bool missing = k >= list.size() || list[k].missing();
      inputs.push_back(missing ? detail::zeros(given_child->h.graph(), {hidden_}, *u_, at.where) : list[k].*part);
    }
  };
  add_states(&TreeState::h);
  add_states(&TreeState::c);
  if (x != nullptr) inputs.push_back(x->expr());

  return detail::record_cell(*cell_, at.where, inputs, [&](std::span<const Expr> in) {
    return node_state(in.first(n), in.subspan(n, n), in.size() > 2 * n ? &in.back() : nullptr, at.where);
  });
}

BinaryTreeLstm::BinaryTreeLstm(const Scope& scope, std::int32_t input, std::int32_t hidden,
                               const TreeLstmOptions& options)
    : cell_(scope, input, hidden, 2, options) {}

TreeState BinaryTreeLstm::operator()(const TreeState& left, const TreeState& right, const char* file,
                                     std::int32_t line) const {
  const std::array both{left, right};
  return cell_(Children(both, SourceLine{file, line}));
}

TreeState BinaryTreeLstm::operator()(Operand x, const TreeState& left, const TreeState& right) const {
  const std::array both{left, right};
  return cell_(x, Children(both, x.where()));
}

}  // namespace espalier::nn
