#include "espalier/plan/place.h"

#include <algorithm>
#include <limits>

#include "espalier/batch/buffer.h"
#include "espalier/plan/holes.h"

namespace espalier::plan {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t units_of(const Lease& lease) { return (lease.bytes + kAlignment - 1) / kAlignment; }

/// The steps at which leases begin and end.
struct Times {
  explicit Times(std::span<const Lease> leases) {
    for (const Lease& lease : leases) {
      first_begin = std::min(first_begin, lease.first);
      last_begin = std::max(last_begin, lease.first);
      first_end = std::min(first_end, lease.last);
      last_end = std::max(last_end, lease.last);
    }
  }
  std::int32_t first_begin = std::numeric_limits<std::int32_t>::max();
  std::int32_t last_begin = std::numeric_limits<std::int32_t>::min();
  std::int32_t first_end = std::numeric_limits<std::int32_t>::max();
  std::int32_t last_end = std::numeric_limits<std::int32_t>::min();
};

class Placer {
 public:
  std::int64_t place(std::span<Lease> leases, const Times& times) {
    constexpr std::size_t kMany = 512;
    holes_.clear(leases.size() > kMany);
    const std::int32_t low = times.first_begin;
    const std::int32_t steps = times.last_end - low + 1;
    Step* const step = steps_.room(static_cast<std::size_t>(steps));
    std::fill_n(step, steps, Step{kNone, kNone});
    Link* const link = links_.room(leases.size());
    for (auto i = static_cast<std::int32_t>(leases.size()) - 1; i >= 0; --i) {
      std::int32_t& begins = step[leases[static_cast<std::size_t>(i)].first - low].begins;
      link[i].next = begins;
      begins = i;
    }
    for (std::int32_t s = 0; s <= times.last_begin - low; ++s) {
      for (std::int32_t i = step[s].begins; i != kNone;) {
        Lease& lease = leases[static_cast<std::size_t>(i)];
        const std::int32_t next = link[i].next;
        lease.at = 0;
        if (lease.bytes > 0) {
          const std::int32_t span = holes_.take(units_of(lease));
          lease.at = holes_.place_of(span) * kAlignment;
          std::int32_t& ends = step[lease.last - low].ends;
          link[i] = {span, ends};
          ends = i;
        }
        i = next;
      }
      for (std::int32_t i = step[s].ends; i != kNone; i = link[i].next) holes_.give(link[i].span);
    }
    return holes_.end() * kAlignment;
  }

 private:
  static constexpr std::int32_t kNone = -1;
  /// The first lease of each list.
  struct Step {
    std::int32_t begins;
    std::int32_t ends;
  };
  /// In the list of those that begin with it, and once placed of those that end with it.
  struct Link {
    std::int32_t span;
    std::int32_t next;
  };

  Holes holes_;
  batch::Buffer<Step> steps_;
  batch::Buffer<Link> links_;
};

}  // namespace

std::int64_t place(std::span<Lease> leases) {
  const Times times(leases);
  if (times.last_begin <= times.first_end) return place_apart(leases);  // there is a step in which all of them live
  constexpr std::size_t kMostKept = 100'000;
  if (leases.size() > kMostKept) return Placer().place(leases, times);
  thread_local Placer placer;
  return placer.place(leases, times);
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
