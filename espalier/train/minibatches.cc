#include "espalier/train/minibatches.h"

#include <numeric>

namespace espalier::train {

EpochOrder::EpochOrder(std::size_t instances, std::uint64_t seed, bool shuffle)
    : seed_(seed), shuffle_(shuffle), random_(seed), order_(instances) {
  begin();
}

void EpochOrder::begin() {
  constexpr std::uint64_t kStream = 1;
  random_ = Random(seed_, kStream);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  shuffles_ = 0;
}

std::span<const std::size_t> EpochOrder::at(std::int32_t epoch) {
  if (!shuffle_) return order_;
  if (shuffles_ > epoch + 1) begin();
  for (; shuffles_ <= epoch; ++shuffles_) random_.shuffle(std::span(order_));
  return order_;
}

Minibatches::Minibatches(std::span<const std::size_t> order, std::span<const std::int64_t> nodes,
                         const MinibatchSizes& sizes)
    : order_(order.begin(), order.end()) {
  const auto most = static_cast<std::size_t>(sizes.instances);
  std::size_t begin = 0;
  std::int64_t used = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::int64_t next = nodes[order_[i]];
    const bool is_full = i - begin == most || (sizes.nodes > 0 && used + next > sizes.nodes);
    if (i > begin && is_full) {
      ends_.push_back(i);
      begin = i;
      used = 0;
    }
    used += next;
  }
  if (!order_.empty()) ends_.push_back(order_.size());
}

std::span<const std::size_t> Minibatches::operator[](std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i);
  const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::span(order_).subspan(begin, ends_[at] - begin);
}

}  // namespace espalier::train
