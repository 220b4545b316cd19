/// The node of each parameter that a graph has recorded, and of what was derived from parameters: an open-addressed
/// table by uid.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/ids.h"

namespace espalier {

class ParameterNodes {
 public:
  /// The node, or -1.
  std::int32_t find(std::uint64_t uid) const {
    for (std::size_t at = uid & mask();; at = (at + 1) & mask()) {
      if (slots_[at].uid == uid) return slots_[at].node;
      if (slots_[at].uid == 0) return -1;
    }
  }

  void add(std::uint64_t uid, NodeId node) {
    order_.push_back({uid, index_of(node)});
    if (order_.size() * 2 > slots_.size())
      rebuild(slots_.size() * 2);
    else
      place(order_.back());
  }

  /// Forgets the nodes from `size` on: they were recorded for an operation that was refused.
  void truncate(std::int32_t size) {
    if (order_.empty() || order_.back().node < size) return;
    while (!order_.empty() && order_.back().node >= size) order_.pop_back();
    rebuild(slots_.size());
  }

  void clear() {
    order_.clear();
    slots_.assign(kFirst, Known{});
  }

 private:
  struct Known {
    std::uint64_t uid = 0;  // 0: free; uids start at 1
    std::int32_t node = -1;
  };
  static constexpr std::size_t kFirst = 32;

  std::size_t mask() const { return slots_.size() - 1; }
  void place(const Known& known) {
    std::size_t at = known.uid & mask();
    while (slots_[at].uid != 0) at = (at + 1) & mask();
    slots_[at] = known;
  }
  void rebuild(std::size_t size) {
    slots_.assign(size, Known{});
    for (const Known& known : order_) place(known);
  }

  std::vector<Known> slots_ = std::vector<Known>(kFirst);
  std::vector<Known> order_;
};

}  // namespace espalier
