/// DistinctRows: which rows of a table a minibatch uses, each once, and where.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace espalier::bench {

class DistinctRows {
 public:
  explicit DistinctRows(std::int32_t table_rows) : number_(static_cast<std::size_t>(table_rows), -1) {}

  /// uses[i] is the row of the table that the i-th use is of. Unless `merge`, every use counts as a row of its own.
  void assign(std::span<const std::int32_t> uses, bool merge);

  /// Rows of the table.
  std::span<const std::int32_t> rows() const { return rows_; }
  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  /// For every use, which of rows() it is.
  std::span<const std::int32_t> of_use() const { return of_use_; }
  /// The uses of the k-th row are order()[begin()[k]] to order()[begin()[k + 1] - 1].
  std::span<const std::int32_t> begin() const { return begin_; }
  std::span<const std::int32_t> order() const { return order_; }

 private:
  std::vector<std::int32_t> number_;  // by row of the table: which of rows_ it is; -1 between calls
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> of_use_;
  std::vector<std::int32_t> begin_;
  std::vector<std::int32_t> order_;
};

}  // namespace espalier::bench
