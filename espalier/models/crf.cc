#include "espalier/models/crf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/init.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

constexpr KindId kFirst{0};
constexpr KindId kNext{1};

/// The number of tags, checked.
std::int32_t checked_tags(std::int32_t tags) {
  if (tags < 1 || tags > 1024) throw UsageError(fmt::format("crf: the number of tags is from 1 to 1024, not {}", tags));
  return tags;
}

/// y[j, i] = x[i] for `tags` rows j. x: [tags]
Expr below_each_other(const Expr& x, std::int32_t tags) {
  std::vector<Expr> copies(static_cast<std::size_t>(tags), x);
  return stack(copies);
}

}  // namespace

Expr pick_rows(const Expr& x, std::span<const std::int32_t> indices) {
  static_assert(sizeof(ops::Pick::Fields) == sizeof(std::int32_t));
  const OpInfo& info = ops::info_of<ops::Pick>();
  const std::array list{Operand(x)};
  return graph_of(info, list)
      .record_rows(info, nullptr, indices.data(), static_cast<std::int32_t>(indices.size()), list);
}

Crf::Crf(const Scope& scope, std::int32_t tags)
    : transitions_(&scope.add("transitions", {checked_tags(tags), tags}, init::zeros())),
      start_(&scope.add("start", {tags}, init::zeros())),
      end_(&scope.add("end", {tags}, init::zeros())),
      forward_("crf", {{"first", 0, [start = start_](std::span<const Expr> in) { return add(in[0], start); }},
                       {"next", 1, [tags, t = transitions_](std::span<const Expr> in) {
                          return add(in[0], logsumexp(add(below_each_other(in[1], tags), t)));
                        }}}) {}

Expr Crf::log_partition(const Expr& scores) const {
  thread_local Structure structure;  // reuses its memory
  structure.clear();
  structure.add(kFirst, 0);
  for (std::int32_t t = 1; t < scores.row_count(); ++t) structure.add(kNext, t, {t - 1});
  const Expr all = forward_(scores, structure)[0];
  return logsumexp(add(row(all, scores.row_count() - 1), end_));
}

Expr Crf::score(const Expr& scores, std::span<const std::int32_t> tags) const {
  if (std::ssize(tags) != scores.row_count())
    throw UsageError(fmt::format("crf: {} tags for {} positions", tags.size(), scores.row_count()));
  Graph& graph = scores.graph();
  std::vector<Expr> terms{sum({pick_rows(scores, tags)}), pick(graph.parameter(*start_), tags.front()),
                          pick(graph.parameter(*end_), tags.back())};
  if (tags.size() > 1) {
    const Expr from = lookup_rows(graph, *transitions_, tags.subspan(1));
    terms.push_back(sum({pick_rows(from, tags.first(tags.size() - 1))}));
  }
  return sum(terms);
}

Expr Crf::loss(const Expr& scores, std::span<const std::int32_t> tags) const {
  return log_partition(scores) - score(scores, tags);
}

std::vector<std::int32_t> Crf::best(const Tensor& scores) const {
  const std::int64_t positions = scores.shape()[0];
  const std::int64_t n = tags();
  const Tensor& transitions = transitions_->value();
  std::vector<double> best(static_cast<std::size_t>(n));
  std::vector<std::int32_t> before(static_cast<std::size_t>(positions * n));  // the best tag before each
  for (std::int64_t j = 0; j < n; ++j) best[static_cast<std::size_t>(j)] = scores.at(j) + start_->value().at(j);
  std::vector<double> next(best.size());
  for (std::int64_t t = 1; t < positions; ++t) {
    for (std::int64_t j = 0; j < n; ++j) {
      double most = -std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < n; ++i) {
        const double score = best[static_cast<std::size_t>(i)] + transitions.at(j * n + i);
        if (score <= most) continue;
        most = score;
        before[static_cast<std::size_t>(t * n + j)] = static_cast<std::int32_t>(i);
      }
      next[static_cast<std::size_t>(j)] = most + scores.at(t * n + j);
    }
    best.swap(next);
  }
  for (std::int64_t j = 0; j < n; ++j) best[static_cast<std::size_t>(j)] += end_->value().at(j);
  std::vector<std::int32_t> tags(static_cast<std::size_t>(positions));
  auto tag = static_cast<std::int32_t>(std::max_element(best.begin(), best.end()) - best.begin());
  for (std::int64_t t = positions - 1; t >= 0; --t) {
    tags[static_cast<std::size_t>(t)] = tag;
    tag = before[static_cast<std::size_t>(t * n + tag)];
  }
  return tags;
}

}  // namespace espalier::models
