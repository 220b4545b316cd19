/// AloneProducts: times products by themselves, on memory of their sizes, with weights that stay in the cache.
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
  /// Seconds of so many calls in a row, after one that is not counted: the median of several times. Rows lie side by
  /// side without gaps.
  double seconds(const ops::Product& product, std::int64_t calls);

 private:
  void run(const ops::Product& product);
  const kernels::Prepared& prepared(const ops::Product& product);
  void make_room(const ops::Product& product);

  std::vector<float> inputs_;   // [rows, k]
  std::vector<float> outputs_;  // [rows, m]
  std::vector<float> weights_;  // [k, m]
  std::vector<float> results_;  // as large as any of them: operands stay as they are
  std::map<std::tuple<ops::ProductKind, std::int64_t, std::int64_t>, kernels::Prepared> prepared_;
};

}  // namespace espalier::bench
