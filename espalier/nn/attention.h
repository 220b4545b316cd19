/// Attention: a weighted sum of values, weighted by how well each key matches a query.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct Attended {
  /// The sum over i of weights[i] * values[i].
  Expr value;
  /// One per key, positive, summing to 1: [number of keys].
  Expr weights;
};

struct DotAttentionOptions {
  /// Divides the scores by the square root of the keys' size (Vaswani et al., 2017).
  bool scaled = true;
};

/// weights = softmax over i of (query . key_i)        query, keys: [size]   values: [any size]
/// No parameters.
class ESPALIER_EXPORT DotAttention {
 public:
  explicit DotAttention(const DotAttentionOptions& options = {}) : scaled_(options.scaled) {}

  /// Refuses no keys, and another number of values.
  Attended operator()(Operand query, const Operands& keys, const Operands& values) const;

 private:
  bool scaled_;
};

struct AdditiveAttentionOptions {
  /// Initializer of the weights; b starts at zero.
  init::Initializer init = init::glorot();
};

/// weights = softmax over i of tanh(query W_query + key_i W_key + b) v        (Bahdanau, Cho and Bengio, 2015)
/// query: [query]   keys: [key]   values: [any size]
/// Parameters: W_query [query, hidden], W_key [key, hidden], b [hidden], v [hidden, 1].
class ESPALIER_EXPORT AdditiveAttention {
 public:
  AdditiveAttention(const Scope& scope, std::int32_t query, std::int32_t key, std::int32_t hidden,
                    const AdditiveAttentionOptions& options = {});

  /// Refuses no keys, and another number of values.
  Attended operator()(Operand query, const Operands& keys, const Operands& values) const;

 private:
  const Parameter* w_query_;
  const Parameter* w_key_;
  const Parameter* b_;
  const Parameter* v_;
};

}  // namespace espalier::nn
