/// Minibatches: an endless stream of instances in random order.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/random.h"

namespace espalier::bench {

/// Gives every instance once before any repeats, then shuffles again, as in training: minibatches hardly ever repeat.
/// Equal arguments give equal minibatches.
class Minibatches {
 public:
  Minibatches(std::int32_t instances, std::int32_t batch);
  std::vector<std::int32_t> next();

 private:
  std::int32_t batch_;
  Random random_{1};
  std::vector<std::int32_t> order_;
  std::size_t used_;
};

}  // namespace espalier::bench
