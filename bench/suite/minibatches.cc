#include "bench/suite/minibatches.h"

#include <numeric>
#include <span>

namespace espalier::bench {

Minibatches::Minibatches(std::int32_t instances, std::int32_t batch)
    : batch_(batch), order_(static_cast<std::size_t>(instances)), used_(order_.size()) {
  std::iota(order_.begin(), order_.end(), 0);
}

std::vector<std::int32_t> Minibatches::next() {
  std::vector<std::int32_t> result;
  while (static_cast<std::int32_t>(result.size()) < batch_) {
    if (used_ == order_.size()) {
      random_.shuffle(std::span(order_));
      used_ = 0;
    }
    result.push_back(order_[used_++]);
  }
  return result;
}

}  // namespace espalier::bench
