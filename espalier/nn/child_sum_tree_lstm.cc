#include "espalier/nn/child_sum_tree_lstm.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/add.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/mul.h"
#include "espalier/ops/sigmoid.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/tanh.h"

namespace espalier::nn {
namespace {

constexpr std::int32_t kGates = 3;

}  // namespace

ChildSumTreeLstm::ChildSumTreeLstm(const Scope& scope, std::int32_t input, std::int32_t hidden,
                                   const ChildSumTreeLstmOptions& options) {
  detail::require_size("child-sum tree lstm", scope, "the input size", input);
  detail::require_size("child-sum tree lstm", scope, "the hidden size", hidden);
  w_ = &scope.add("W", {input, kGates * hidden}, detail::in_blocks(options.init, input, hidden));
  u_ = &scope.add("U", {hidden, kGates * hidden}, detail::in_blocks(options.init, hidden, hidden));
  b_ = &scope.add("b", {kGates * hidden}, init::zeros());
  w_f_ = &scope.add("W_f", {input, hidden}, options.init);
  u_f_ = &scope.add("U_f", {hidden, hidden}, options.init);
  b_f_ = &scope.add("b_f", {hidden}, init::constant(options.forget_bias));
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

  Expr gates;
  if (list.empty()) {
    gates = affine(*x, at(w_), at(b_));
  } else {
    std::vector<Expr> outputs;
    outputs.reserve(list.size());
    for (const TreeState& child : list) outputs.push_back(child.h);
    gates = affine(at(sum(at(outputs))), at(u_), at(b_));
    if (x != nullptr) gates = add(at(linear(*x, at(w_))), at(gates));
  }
  const std::int32_t size = hidden();
  const Expr open = sigmoid(at(detail::gate(at(gates), size, 0, 2)));
  const Expr i = detail::gate(at(open), size, 0);
  const Expr o = detail::gate(at(open), size, 1);
  const Expr u = tanh(at(detail::gate(at(gates), size, 2)));
  Expr c = mul(at(i), at(u));
  if (!list.empty()) {
    std::vector<Expr> memories{c};
    Expr forget_x;
    if (x != nullptr) forget_x = linear(*x, at(w_f_));
    for (const TreeState& child : list) {
      Expr forget = affine(at(child.h), at(u_f_), at(b_f_));
      if (x != nullptr) forget = add(at(forget_x), at(forget));
      memories.push_back(mul(at(sigmoid(at(forget))), at(child.c)));
    }
    c = sum(at(memories));
  }
  return {mul(at(o), at(tanh(at(c)))), c};
}

}  // namespace espalier::nn
