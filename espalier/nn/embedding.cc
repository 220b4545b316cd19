#include "espalier/nn/embedding.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/lookup.h"

namespace espalier::nn {

Embedding::Embedding(const Scope& scope, std::int32_t rows, std::int32_t dim, const EmbeddingOptions& options)
    : modulo_(options.modulo) {
  detail::require_size("embedding", scope, "the number of rows", rows);
  detail::require_size("embedding", scope, "the size of a row", dim);
  init::Initializer init = options.init ? options.init : init::normal(0, 1 / std::sqrt(dim));
  if (options.pretrained) init = init::from_rows(*options.pretrained, std::move(init));
  Parameter& table = scope.add("table", {rows, dim}, init);
  table.frozen = options.frozen;
  table_ = &table;
}

std::int64_t Embedding::row_of(std::int64_t id) const {
  if (!modulo_) return id;
  const auto bits = static_cast<std::uint64_t>(id);
  return static_cast<std::int64_t>((id < 0 ? 0 - bits : bits) % static_cast<std::uint64_t>(rows()));
}

Expr Embedding::each(Graph& graph, std::span<const std::int32_t> ids, const char* file, std::int32_t line) const {
  if (!modulo_) return lookup(graph, *table_, ids, file, line);
  std::vector<std::int32_t> taken;
  for (const std::int32_t id : ids) taken.push_back(static_cast<std::int32_t>(row_of(id)));
  return lookup(graph, *table_, taken, file, line);
}

Expr Embedding::operator()(Graph& graph, std::int64_t id, const char* file, std::int32_t line) const {
  id = row_of(id);
  // What does not fit a row's type is outside any table; the op names the others, with the caller's line.
  if (!std::in_range<std::int32_t>(id))
    throw UsageError(
        fmt::format("lookup: row {} is outside the table (rows 0 to {})\n  table: parameter \"{}\"\n  at {}", id,
                    rows() - 1, table_->name(), SourceLine{file, line}.to_string()));
  return lookup(graph, *table_, static_cast<std::int32_t>(id), file, line);
}

}  // namespace espalier::nn
