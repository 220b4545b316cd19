/// Table: an embedding, of which a minibatch reads and changes only the rows it uses.
#pragma once

#include <cstdint>
#include <span>

#include "bench/limit/weights.h"

namespace espalier::bench {

class Table {
 public:
  explicit Table(Weight& values) : values_(&values) {}

  std::int64_t width() const { return values_->columns; }
  std::int32_t rows() const { return static_cast<std::int32_t>(values_->rows); }

  /// to[i] = row rows[i]
  void gather(std::span<const std::int32_t> rows, float* to) const;
  /// Row places[i] of `to` = row rows[i], for i from begin to end.
  void scatter(std::span<const std::int32_t> rows, std::span<const std::int32_t> places, std::int64_t begin,
               std::int64_t end, float* to) const;
  /// Adds gradients[i] where the gradient of row rows[i] goes, in columns begin to end: threads divide columns, since a
  /// row may come twice.
  void add_gradients(std::span<const std::int32_t> rows, const float* gradients, std::int64_t begin,
                     std::int64_t end) const;
  /// The same for gradients[places[i]].
  void add_gradients(std::span<const std::int32_t> rows, std::span<const std::int32_t> places, const float* gradients,
                     std::int64_t begin, std::int64_t end) const;

 private:
  Weight* values_;
};

}  // namespace espalier::bench
