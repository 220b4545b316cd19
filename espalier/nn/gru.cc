#include "espalier/nn/gru.h"

#include <span>
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

constexpr std::int32_t kGruGates = 3;

}  // namespace

GruCell::GruCell(const Scope& scope, std::int32_t input, std::int32_t hidden, const GruOptions& options) {
  detail::require_size("gru", scope, "the input size", input);
  detail::require_size("gru", scope, "the hidden size", hidden);
  w_ = &scope.add("W", {input, kGruGates * hidden}, detail::in_blocks(options.init, input, hidden));
  b_ = &scope.add("b", {kGruGates * hidden}, init::zeros());
  u_ = &scope.add("U", {hidden, kGruGates * hidden}, detail::in_blocks(options.init, hidden, hidden));
  b_h_ = &scope.add("b_h", {kGruGates * hidden}, init::zeros());
  cell_ = std::make_shared<const cells::Core>("gru", CellOptions{.outer = {0}, .inputs = {"x", "h"}});
}

Expr GruCell::initial(Graph& graph, const char* file, std::int32_t line) const {
  return detail::zeros(graph, {hidden()}, *u_, {file, line});
}

Expr GruCell::operator()(Operand x, Operand h) const {
  const detail::At at{x.where()};
  const auto equations = [&](std::span<const Expr> in, ExprList& results) {
    const std::int32_t size = hidden();
    const Expr from_x = affine(at(in[0]), at(w_), at(b_));
    const Expr from_h = affine(at(in[1]), at(u_), at(b_h_));
    const Expr open =
        sigmoid(at(add(at(detail::gate(at(from_x), size, 0, 2)), at(detail::gate(at(from_h), size, 0, 2)))));
    const Expr r = detail::gate(at(open), size, 0);
    const Expr z = detail::gate(at(open), size, 1);
    const Expr reset = mul(at(r), at(detail::gate(at(from_h), size, 2)));
    const Expr n = tanh(at(add(at(detail::gate(at(from_x), size, 2)), at(reset))));
    results = {add(at(mul(at(one_minus(at(z))), at(n))), at(mul(at(z), at(in[1]))))};
  };
  return detail::record_cell<1>(*cell_, at.where, {x.expr(), h.expr()}, equations)[0];
}

}  // namespace espalier::nn
