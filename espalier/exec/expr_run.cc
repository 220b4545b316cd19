/// The members of Expr that run a graph. Declared in graph/expr.h, where users look for them; defined here, where the
/// executor is known.
#include <fmt/format.h>

#include <cstring>

#include "espalier/base/error.h"
#include "espalier/exec/reference.h"
#include "espalier/graph/graph.h"

namespace espalier {

Tensor Expr::value() const {
  Graph& in = graph();
  exec::compute(in, {&node_, 1});
  const Type& type = in.type(node_);
  Tensor result(type.shape, type.dtype);
  std::memcpy(result.data(), exec::Values::of(in).value[static_cast<std::size_t>(index_of(node_))], result.bytes());
  return result;
}

double Expr::scalar() const { return value().item(); }

void Expr::backward(const BackwardOptions& options) const { exec::differentiate(graph(), node_, options); }

Tensor Expr::grad() const {
  Graph& in = graph();
  for (const auto& wanted : exec::Values::of(in).wanted)
    if (wanted.node == node_) return wanted.gradient;
  throw UsageError(fmt::format("grad: the gradient of {} was not asked for\n  hint: loss.backward({{.wanted = {{x}}}})",
                               in.describe(node_)));
}

}  // namespace espalier
