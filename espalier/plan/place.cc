#include "espalier/plan/place.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "espalier/batch/buffer.h"
#include "espalier/plan/holes.h"

namespace espalier::plan {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t units_of(const Lease& lease) { return (lease.bytes + kAlignment - 1) / kAlignment; }

class Placer {
 public:
  std::int64_t place(std::span<Lease> leases) {
    sort(leases);
    holes_.clear();
    std::fill_n(newest_.room(steps_), steps_, kNone);
    links_.room(leases.size());
    std::size_t over = 0;
    for (std::size_t i = 0; i < leases.size(); ++i) {
      const std::uint32_t l = order_.data()[i];
      Lease& lease = leases[l];
      lease.at = 0;
      if (lease.bytes == 0) continue;
      const std::size_t first = step(lease.first);
      for (; over < first; ++over)
        for (std::int32_t old = newest_.data()[over]; old != kNone; old = links_.data()[old].older)
          holes_.give(links_.data()[old].span);
      const std::int32_t span = holes_.take(units_of(lease));
      lease.at = holes_.place_of(span) * kAlignment;
      std::int32_t& newest = newest_.data()[step(lease.last)];
      links_.data()[l] = {span, newest};
      newest = static_cast<std::int32_t>(l);
    }
    return holes_.end() * kAlignment;
  }

 private:
  static constexpr std::int32_t kNone = -1;
  struct Link {
    std::int32_t span;
    std::int32_t older;  // a lease with the same last step
  };

  std::size_t step(std::int32_t step) const { return static_cast<std::size_t>(step - low_); }

  /// By first steps, leases of the same one in their own order.
  void sort(std::span<const Lease> leases) {
    low_ = std::numeric_limits<std::int32_t>::max();
    std::int32_t high = std::numeric_limits<std::int32_t>::min();
    for (const Lease& lease : leases) {
      low_ = std::min(low_, lease.first);
      high = std::max(high, lease.last);
    }
    steps_ = step(high) + 1;
    std::uint32_t* const next = next_.room(steps_ + 1);
    std::fill_n(next, steps_ + 1, 0U);
    for (const Lease& lease : leases) ++next[step(lease.first) + 1];
    for (std::size_t s = 0; s < steps_; ++s) next[s + 1] += next[s];
    std::uint32_t* const order = order_.room(leases.size());
    for (std::size_t i = 0; i < leases.size(); ++i)
      order[next[step(leases[i].first)]++] = static_cast<std::uint32_t>(i);
  }

  Holes holes_;
  std::int32_t low_ = 0;
  std::size_t steps_ = 0;
  batch::Buffer<std::uint32_t> next_;
  batch::Buffer<std::uint32_t> order_;
  batch::Buffer<std::int32_t> newest_;  // by last step
  batch::Buffer<Link> links_;           // by lease
};

/// Whether there is a step in which all of them live.
bool all_live_together(std::span<const Lease> leases) {
  std::int32_t first = std::numeric_limits<std::int32_t>::min();
  std::int32_t last = std::numeric_limits<std::int32_t>::max();
  for (const Lease& lease : leases) {
    first = std::max(first, lease.first);
    last = std::min(last, lease.last);
  }
  return first <= last;
}

}  // namespace

std::int64_t place(std::span<Lease> leases) {
  if (all_live_together(leases)) return place_apart(leases);
  thread_local Placer placer;
  return placer.place(leases);
}

std::int64_t place_apart(std::span<Lease> leases) {
  std::int64_t end = 0;
  for (Lease& lease : leases) {
    lease.at = lease.bytes == 0 ? 0 : end;
    end += units_of(lease) * kAlignment;
  }
  return end;
}

}  // namespace espalier::plan
