#include "espalier/nn/embedding.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/lookup.h"

namespace espalier::nn {

Embedding::Embedding(const Scope& scope, std::int32_t size, std::int32_t dim, const EmbeddingOptions& options)
    : modulo_(options.modulo) {
  detail::require_size("embedding", scope, "the number of rows", size);
  detail::require_size("embedding", scope, "the size of a row", dim);
  init::Initializer init = options.init ? options.init : init::normal(0, 1 / std::sqrt(dim));
  if (options.pretrained) init = init::from_rows(*options.pretrained, std::move(init));
  Parameter& table = scope.add("table", {size, dim}, init);
  table.frozen = options.frozen;
  table_ = &table;
}

std::int32_t Embedding::row_of(std::int64_t id, SourceLine where) const {
  if (modulo_) {
    const auto bits = static_cast<std::uint64_t>(id);
    id = static_cast<std::int64_t>((id < 0 ? 0 - bits : bits) % static_cast<std::uint64_t>(size()));
  }
  // The op refuses other rows outside the table, with the same sentence.
  if (!std::in_range<std::int32_t>(id))
    throw UsageError(
        fmt::format("lookup: row {} is outside the table (rows 0 to {})\n  table: parameter \"{}\"\n  at {}", id,
                    size() - 1, table_->name(), where.to_string()));
  return static_cast<std::int32_t>(id);
}

Expr Embedding::rows(Graph& graph, std::span<const std::int32_t> ids, const char* file, std::int32_t line) const {
  if (!modulo_) return lookup_rows(graph, *table_, ids, file, line);
  std::vector<std::int32_t> found;
  found.reserve(ids.size());
  for (const std::int32_t id : ids) found.push_back(row_of(id, {file, line}));
  return lookup_rows(graph, *table_, found, file, line);
}

Expr Embedding::rows(Graph& graph, std::span<const std::int64_t> ids, const char* file, std::int32_t line) const {
  std::vector<std::int32_t> found;
  found.reserve(ids.size());
  for (const std::int64_t id : ids) found.push_back(row_of(id, {file, line}));
  return lookup_rows(graph, *table_, found, file, line);
}

Expr Embedding::operator()(Graph& graph, std::int64_t id, const char* file, std::int32_t line) const {
  return lookup(graph, *table_, row_of(id, {file, line}), file, line);
}

}  // namespace espalier::nn
