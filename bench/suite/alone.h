/// AloneProducts: times single products outside a network, on memory of the same sizes, with weights in the cache.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "espalier/kernels/prepared.h"
#include "espalier/ops/product_log.h"

namespace espalier::bench {

class AloneProducts {
 public:
  /// Seconds of `calls` calls in a row after a warm-up call; the median of several trials. Rows are contiguous.
  double seconds(const ops::Product& product, std::int64_t calls);

 private:
  void run(const ops::Product& product);
  const kernels::Prepared& prepared(const ops::Product& product);
  void make_room(const ops::Product& product);

  std::vector<float> inputs_;   // [rows, k]
  std::vector<float> outputs_;  // [rows, m]
  std::vector<float> weights_;  // [k, m]
  std::vector<float> results_;  // large enough for any result, so that operands stay unchanged
  std::map<std::tuple<ops::ProductKind, std::int64_t, std::int64_t>, kernels::Prepared> prepared_;
};

}  // namespace espalier::bench
