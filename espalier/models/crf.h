/// Crf: a linear-chain conditional random field over the tags of a sequence (Lafferty, McCallum and Pereira, 2001).
///
/// The score of tags y_1 .. y_n is  start[y_1] + sum over t of scores_t[y_t] + sum over t > 1 of T[y_t, y_t-1] +
/// end[y_n]; the loss is the logarithm of the sum of e^score over all sequences of tags, less the score of the right
/// one.
///
/// The sum is the forward algorithm in log space. It is a Recursion over the rows of the scores, so the same positions
/// of all sequences of a minibatch run together:
///   a_1 = scores_1 + start,   a_t[j] = scores_t[j] + logsumexp over i of (T[j, i] + a_t-1[i])
///
/// Thread safety: as Model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/cells/recursion.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/model.h"
#include "espalier/tensor/tensor.h"

namespace espalier::models {

/// Parameters: transitions [tags, tags], the score of a tag (row) after another (column); start [tags], end [tags]. All
/// start at zero.
class ESPALIER_EXPORT Crf {
 public:
  /// Refuses (UsageError) fewer than one tag and more than 1024.
  Crf(const Scope& scope, std::int32_t tags);

  /// The loss of a sequence, one element. `scores` has many rows, one per position, of [tags]. Refuses (UsageError)
  /// another number of tags than rows.
  Expr loss(const Expr& scores, std::span<const std::int32_t> tags) const;
  /// The logarithm of the sum over all sequences of tags: one element.
  Expr log_partition(const Expr& scores) const;
  /// The score of one sequence of tags: one element.
  Expr score(const Expr& scores, std::span<const std::int32_t> tags) const;

  /// The sequence of tags with the highest score, by Viterbi's algorithm, from the value of `scores`, [positions,
  /// tags]; of equals the one whose last differing tag is smaller. Costs positions * tags^2.
  std::vector<std::int32_t> best(const Tensor& scores) const;

  std::int32_t tags() const { return start_->shape()[0]; }

 private:
  const Parameter* transitions_;
  const Parameter* start_;
  const Parameter* end_;
  Recursion forward_;
};

/// Element k of row k of x, for indices k given one per row: one number per row.
ESPALIER_EXPORT Expr pick_rows(const Expr& x, std::span<const std::int32_t> indices);

}  // namespace espalier::models
