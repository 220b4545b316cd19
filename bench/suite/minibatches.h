/// Minibatches: instances in random order, without end.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/random.h"

namespace espalier::bench {

/// Every instance once before any comes again, then in another order: hardly a minibatch is met twice, as in training.
/// Same numbers, same minibatches.
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
