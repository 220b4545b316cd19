#include "espalier/nn/child_sum_tree_lstm.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/add.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/lstm_memory.h"
#include "espalier/ops/lstm_output.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/sigmoid.h"
#include "espalier/ops/sum.h"

namespace espalier::nn {
namespace {

constexpr std::int32_t kTreeGates = 3;

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
}

TreeState ChildSumTreeLstm::leaf(Operand x) const { return node(&x, Children({}, x.where())); }

TreeState ChildSumTreeLstm::operator()(Operand x, const Children& children) const {
  return node(&x, Children(children.list(), x.where()));
}

TreeState ChildSumTreeLstm::operator()(const Children& children) const { return node(nullptr, children); }

TreeState ChildSumTreeLstm::node(const Operand* x, const Children& children) const {
  const std::span<const TreeState> list = children.list();
  const detail::At at{children.where()};
  if (x == nullptr && list.empty())
    throw UsageError(
        fmt::format("child-sum tree lstm: neither an input nor a child is given\n  U: parameter \"{}\"\n"
                    "  at {}",
                    u_->name(), at.where.to_string()));

  const std::int32_t size = hidden();
  const auto state = [&](const Expr& gates, const Expr* memory, ExprList& results) {
    const std::array parts{detail::gate(at(gates), size, 0), detail::gate(at(gates), size, 2)};
    Expr c = lstm_memory(at(std::span<const Expr>(parts)));
    if (memory != nullptr) c = add(at(c), at(*memory));
    results = {lstm_output(at(detail::gate(at(gates), size, 1)), at(c)), c};
  };
  std::array<Expr, 2> results;
  if (list.empty()) {
    results = detail::record_cell<2>(*leaf_cell_, at.where, {x->expr()}, [&](std::span<const Expr> in, ExprList& to) {
      state(affine(at(in[0]), at(w_), at(b_)), nullptr, to);
    });
  } else {
    std::vector<Expr> outputs;
    outputs.reserve(list.size());
    for (const TreeState& child : list) outputs.push_back(child.h);
    ExprList inputs{outputs.size() == 1 ? outputs[0] : sum(at(outputs)), remembered(x, children)};
    if (x != nullptr) inputs.push_back(x->expr());
    results = detail::record_cell<2>(*cell_, at.where, inputs, [&](std::span<const Expr> in, ExprList& to) {
      Expr gates = affine(at(in[0]), at(u_), at(b_));
      if (in.size() > 2) gates = add(at(linear(at(in[2]), at(w_))), at(gates));
      state(gates, &in[1], to);
    });
  }
  return {results[0], results[1]};
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
    memories.push_back(
        detail::record_cell<1>(*forget_cell_, at.where, inputs, [&](std::span<const Expr> in, ExprList& to) {
          Expr forget = affine(at(in[0]), at(u_f_), at(b_f_));
          if (in.size() > 2) forget = add(at(in[2]), at(forget));
          to = {mul(at(sigmoid(at(forget))), at(in[1]))};
        })[0]);
  }
  return memories.size() == 1 ? memories[0] : sum(at(memories));
}

}  // namespace espalier::nn
