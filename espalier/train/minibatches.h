/// The order of the instances in each epoch, and the minibatches they make. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/random.h"

namespace espalier::train {

struct MinibatchSizes {
  std::int64_t instances = 32;  // at most
  /// If above 0: at most as many instances as have this many nodes together, at least one.
  std::int64_t nodes = 0;
};

/// Each epoch shuffles the order of the one before. The order depends on the number of instances, the seed and the
/// epoch alone: an earlier epoch is found by beginning again.
class EpochOrder {
 public:
  EpochOrder(std::size_t instances, std::uint64_t seed, bool shuffle);

  /// The numbers of the instances in this epoch, the first being 0. Valid until the next call. A later epoch than that
  /// of the call before costs a shuffle for each epoch between them.
  std::span<const std::size_t> at(std::int32_t epoch);

 private:
  void begin();

  std::uint64_t seed_;
  bool shuffle_;
  Random random_;
  std::vector<std::size_t> order_;
  std::int32_t shuffles_ = 0;
};

class Minibatches {
 public:
  Minibatches() = default;
  /// `nodes` are those of each instance.
  Minibatches(std::span<const std::size_t> order, std::span<const std::int64_t> nodes, const MinibatchSizes& sizes);

  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  /// The numbers of the instances of minibatch `i`.
  std::span<const std::size_t> operator[](std::int64_t i) const;

 private:
  std::vector<std::size_t> order_;
  std::vector<std::size_t> ends_;  // of each, in order_
};

}  // namespace espalier::train
