/// Embedding: a table of vectors, one for each word, symbol or kind.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct EmbeddingOptions {
  /// Unset: normal with deviation 1 / sqrt(dim), so that a vector has a length of about 1.
  init::Initializer init;
};

/// row   ->   y: [dim]
/// Parameters: table [rows, dim]. Its gradient has only the rows that were used.
class ESPALIER_EXPORT Embedding {
 public:
  Embedding(const Scope& scope, std::int32_t rows, std::int32_t dim, const EmbeddingOptions& options = {});

  /// Refuses a row outside the table.
  Expr operator()(Graph& graph, std::int32_t row, const char* file = __builtin_FILE(),
                  std::int32_t line = __builtin_LINE()) const;

  std::int32_t rows() const { return table_->shape()[0]; }
  std::int32_t dim() const { return table_->shape()[1]; }

 private:
  const Parameter* table_;
};

}  // namespace espalier::nn
