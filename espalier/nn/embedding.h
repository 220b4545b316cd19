/// Embedding: a table of vectors, one for each word, symbol or kind.
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
  /// Unset: normal with deviation 1 / sqrt(dim), so that a vector has a length of about 1.
  init::Initializer init = {};
  /// [n, dim], n <= rows: the first rows of the table, instead of drawn ones.
  std::optional<Tensor> pretrained = std::nullopt;
  /// The table is not trained.
  bool frozen = false;
  /// Any number stands for a row: its absolute value modulo the number of rows. So hashes can be looked up.
  bool modulo = false;
};

/// id   ->   y: [dim]
/// Parameters: table [rows, dim]. Its gradient has only the rows that were used.
class ESPALIER_EXPORT Embedding {
 public:
  Embedding(const Scope& scope, std::int32_t rows, std::int32_t dim, const EmbeddingOptions& options = {});

  /// Refuses an id outside the table, unless any is taken modulo its rows.
  Expr operator()(Graph& graph, std::int64_t id, const char* file = __builtin_FILE(),
                  std::int32_t line = __builtin_LINE()) const;

  /// The vectors of several ids, as one node of many rows; at least one.
  Expr each(Graph& graph, std::span<const std::int32_t> ids, const char* file = __builtin_FILE(),
            std::int32_t line = __builtin_LINE()) const;

  std::int32_t rows() const { return table_->shape()[0]; }
  std::int32_t dim() const { return table_->shape()[1]; }
  const Parameter& table() const { return *table_; }

 private:
  std::int64_t row_of(std::int64_t id) const;

  const Parameter* table_;
  bool modulo_;
};

}  // namespace espalier::nn
