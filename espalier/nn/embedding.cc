#include "espalier/nn/embedding.h"

#include <cmath>

#include "espalier/nn/gates.h"
#include "espalier/ops/lookup.h"

namespace espalier::nn {

Embedding::Embedding(const Scope& scope, std::int32_t rows, std::int32_t dim, const EmbeddingOptions& options) {
  detail::require_size("embedding", scope, "the number of rows", rows);
  detail::require_size("embedding", scope, "the size of a row", dim);
  table_ = &scope.add("table", {rows, dim}, options.init ? options.init : init::normal(0, 1 / std::sqrt(dim)));
}

Expr Embedding::operator()(Graph& graph, std::int32_t row, const char* file, std::int32_t line) const {
  return lookup(graph, *table_, row, file, line);
}

}  // namespace espalier::nn
