#include "espalier/nn/child_sum_tree_lstm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/add.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/sigmoid.h"
#include "espalier/ops/sum.h"

namespace espalier::nn {
namespace {

constexpr std::int64_t kTreeGates = 3;

/// h and c, of the gates and of what is remembered of the children, if there are any.
TreeState child_sum_state(const detail::At& at, const Expr& gates, const Expr* memory) {
  const auto hidden = static_cast<std::int32_t>(gates.shape()[0] / kTreeGates);
  return detail::lstm_state(at, gates, {hidden, 0, kTreeGates, 1, 2}, {}, memory);
}

}  // namespace

ChildSumTreeLstm::ChildSumTreeLstm(const Scope& scope, std::int32_t input, std::int32_t hidden,
                                   const ChildSumTreeLstmOptions& options) {
  detail::require_size("child-sum tree lstm", scope, "the input size", input);
  detail::require_size("child-sum tree lstm", scope, "the hidden size", hidden);
  w_ = &scope.add("W", {input, kTreeGates * hidden}, detail::in_blocks(options.init, input, hidden));
  u_ = &scope.add("U", {hidden, kTreeGates * hidden}, detail::in_blocks(options.init, hidden, hidden));
  b_ = &scope.add("b", {kTreeGates * hidden}, init::zeros());
  w_f_ = &scope.add("W_f", {input, hidden}, options.init);
  u_f_ = &scope.add("U_f", {hidden, hidden}, options.init);
  b_f_ = &scope.add("b_f", {hidden}, init::constant(options.forget_bias));
  leaf_cell_ = std::make_shared<const cells::Core>("child_sum.leaf", CellOptions{.outer = {}, .inputs = {"x"}});
  cell_ = std::make_shared<const cells::Core>("child_sum", CellOptions{.outer = {2}, .inputs = {"h", "c", "x"}});
  forget_cell_ =
      std::make_shared<const cells::Core>("child_sum.forget", CellOptions{.outer = {}, .inputs = {"h", "c", "x"}});
  make_recursion();
}

/// A child sends its h, and its c through its forget gate.
void ChildSumTreeLstm::make_recursion() {
  const auto of_child = [w_f = w_f_, u_f = u_f_, b_f = b_f_](std::span<const Expr> in) {
    const detail::At at{};
    const std::span<const Expr> child = in.last(2);
    Expr forget;
    if (in.size() > 2)  // the product with x first: it runs for all heights at once
      forget = add(at(affine(at(in[0]), at(w_f), at(b_f))), at(linear(at(child[0]), at(u_f))));
    else
      forget = affine(at(child[0]), at(u_f), at(b_f));
    return std::pair(child[0], mul(at(sigmoid(at(forget))), at(child[1])));
  };
  const auto of_node = [w = w_, u = u_, b = b_](std::span<const Expr> in) {
    const detail::At at{};
    const std::span<const Expr> sums = in.last(2);
    Expr gates;
    if (in.size() > 2)
      gates = add(at(affine(at(in[0]), at(w), at(b))), at(linear(at(sums[0]), at(u))));
    else
      gates = affine(at(sums[0]), at(u), at(b));
    return child_sum_state(at, gates, &sums[1]);
  };
  recursion_ = std::make_shared<const Recursion>(
      "child_sum",
      std::vector<RecursionKind>{RecursionKind::any_children("node", of_child, of_node),
                                 RecursionKind::any_children("node without x", of_child, of_node, TakesX::kNo)},
      std::vector<Shape>{{hidden()}, {hidden()}});
}

TreeState ChildSumTreeLstm::rows(Operand x, const Structure& tree) const {
  const std::vector<Expr> states = (*recursion_)(x, tree);
  return {states[0], states[1]};
}

TreeState ChildSumTreeLstm::leaf(Operand x) const { return node(&x, Children({}, x.where())); }

TreeState ChildSumTreeLstm::operator()(Operand x, const Children& children) const {
  return node(&x, Children(children.list(), x.where()));
}

TreeState ChildSumTreeLstm::operator()(const Children& children) const { return node(nullptr, children); }

TreeState ChildSumTreeLstm::node(const Operand* x, const Children& given) const {
  std::vector<TreeState> kept;  // if some are missing
  std::span<const TreeState> list = given.list();
  if (std::any_of(list.begin(), list.end(), [](const TreeState& child) { return child.missing(); })) {
    std::copy_if(list.begin(), list.end(), std::back_inserter(kept),
                 [](const TreeState& child) { return !child.missing(); });
    list = kept;
  }
  const Children children(list, given.where());
  const detail::At at{children.where()};
  if (x == nullptr && list.empty())
    throw UsageError(
        fmt::format("child-sum tree lstm: neither an input nor a child is given\n  U: parameter \"{}\"\n"
                    "  at {}",
                    u_->name(), at.where.to_string()));

  if (list.empty())
    return detail::record_cell(*leaf_cell_, at.where, {x->expr()}, [&](std::span<const Expr> in) {
      return child_sum_state(at, affine(at(in[0]), at(w_), at(b_)), nullptr);
    });
  std::vector<Expr> outputs;
  outputs.reserve(list.size());
  for (const TreeState& child : list) outputs.push_back(child.h);
  ExprList inputs{outputs.size() == 1 ? outputs[0] : sum(at(outputs)), remembered(x, children)};
  if (x != nullptr) inputs.push_back(x->expr());
  return detail::record_cell(*cell_, at.where, inputs, [&](std::span<const Expr> in) {
    Expr gates = affine(at(in[0]), at(u_), at(b_));
    if (in.size() > 2) gates = add(at(linear(at(in[2]), at(w_))), at(gates));
    return child_sum_state(at, gates, &in[1]);
  });
}

Expr ChildSumTreeLstm::remembered(const Operand* x, const Children& children) const {
  const detail::At at{children.where()};
  // One product for all children of a node.
  Expr from_x;
  if (x != nullptr) from_x = linear(*x, at(w_f_));
  std::vector<Expr> memories;
  for (const TreeState& child : children.list()) {
    ExprList inputs{child.h, child.c};
    if (x != nullptr) inputs.push_back(from_x);
    memories.push_back(detail::record_cell(*forget_cell_, at.where, inputs, [&](std::span<const Expr> in) {
      Expr forget = affine(at(in[0]), at(u_f_), at(b_f_));
      if (in.size() > 2) forget = add(at(in[2]), at(forget));
      return mul(at(sigmoid(at(forget))), at(in[1]));
    }));
  }
  return memories.size() == 1 ? memories[0] : sum(at(memories));
}

}  // namespace espalier::nn
