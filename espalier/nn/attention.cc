#include "espalier/nn/attention.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/add.h"
#include "espalier/ops/affine.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/matvec.h"
#include "espalier/ops/scale.h"
#include "espalier/ops/softmax.h"
#include "espalier/ops/stack.h"
#include "espalier/ops/tanh.h"

namespace espalier::nn {
namespace {

void check_lists(std::string_view layer, const detail::At& at, const Operands& keys, const Operands& values) {
  if (keys.list().empty())
    throw UsageError(fmt::format("{}: needs at least one key\n  at {}", layer, at.where.to_string()));
  if (keys.list().size() != values.list().size())
    throw UsageError(fmt::format("{}: the number of keys ({}) and of values ({}) differ\n  at {}", layer,
                                 keys.list().size(), values.list().size(), at.where.to_string()));
}

Attended attend(const detail::At& at, const Expr& scores, const Operands& values) {
  const Expr weights = softmax(at(scores));
  return {linear(at(weights), at(stack(at(values.list())))), weights};
}

}  // namespace

Attended DotAttention::operator()(Operand query, const Operands& keys, const Operands& values) const {
  const detail::At at{query.where()};
  check_lists("dot attention", at, keys, values);
  Expr scores = matvec(at(stack(at(keys.list()))), query);
  if (scaled_) scores = scale(at(scores), 1 / std::sqrt(query.shape()[0]));
  return attend(at, scores, values);
}

AdditiveAttention::AdditiveAttention(const Scope& scope, std::int32_t query, std::int32_t key, std::int32_t hidden,
                                     const AdditiveAttentionOptions& options) {
  detail::require_size("additive attention", scope, "the size of a query", query);
  detail::require_size("additive attention", scope, "the size of a key", key);
  detail::require_size("additive attention", scope, "the hidden size", hidden);
  w_query_ = &scope.add("W_query", {query, hidden}, options.init);
  w_key_ = &scope.add("W_key", {key, hidden}, options.init);
  b_ = &scope.add("b", {hidden}, init::zeros());
  v_ = &scope.add("v", {hidden, 1}, options.init);
}

Attended AdditiveAttention::operator()(Operand query, const Operands& keys, const Operands& values) const {
  const detail::At at{query.where()};
  check_lists("additive attention", at, keys, values);
  const Expr asked = affine(query, at(w_query_), at(b_));
  std::vector<Expr> scores;
  scores.reserve(keys.list().size());
  for (const Expr& key : keys.list()) {
    const Expr met = tanh(at(add(at(asked), at(linear(at(key), at(w_key_))))));
    scores.push_back(linear(at(met), at(v_)));
  }
  return attend(at, concat(at(scores), 0), values);
}

}  // namespace espalier::nn
