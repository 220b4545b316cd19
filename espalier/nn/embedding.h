/// Embedding: a table of vectors, one per word, symbol or category.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/init.h"
#include "espalier/nn/model.h"
#include "espalier/tensor/tensor.h"

namespace espalier::nn {

struct EmbeddingOptions {
  /// Default: normal with standard deviation 1 / sqrt(dim), so that a vector has a length of about 1.
  init::Initializer init = {};
  /// [n, dim] with n <= size: used as the first n rows of the table instead of random ones.
  std::optional<Tensor> pretrained = std::nullopt;
  /// If true, training does not change the table.
  bool frozen = false;
  /// If true, any id is accepted and mapped to a row: its absolute value modulo the size of the table. Use it to look
  /// up hashed features.
  bool modulo = false;
};

/// id   ->   y: [dim]
/// Parameters: table [size, dim]. Its gradient holds only the rows that were used.
class ESPALIER_EXPORT Embedding {
 public:
  Embedding(const Scope& scope, std::int32_t size, std::int32_t dim, const EmbeddingOptions& options = {});

  /// The vector of one id. Refuses (UsageError) an id outside the table, unless `modulo` is set.
  Expr operator()(Graph& graph, std::int64_t id, const char* file = __builtin_FILE(),
                  std::int32_t line = __builtin_LINE()) const;

  /// The vectors of several ids, as one node with one row per id. Refuses an empty list, and ids as above.
  Expr rows(Graph& graph, std::span<const std::int32_t> ids, const char* file = __builtin_FILE(),
            std::int32_t line = __builtin_LINE()) const;
  Expr rows(Graph& graph, std::span<const std::int64_t> ids, const char* file = __builtin_FILE(),
            std::int32_t line = __builtin_LINE()) const;

  /// How many vectors the table has.
  std::int32_t size() const { return table_->shape()[0]; }
  std::int32_t dim() const { return table_->shape()[1]; }
  const Parameter& table() const { return *table_; }

 private:
  /// The row of the table for an id. Refuses an id that no table of this size has.
  std::int32_t row_of(std::int64_t id, SourceLine where) const;

  const Parameter* table_;
  bool modulo_;
};

}  // namespace espalier::nn
