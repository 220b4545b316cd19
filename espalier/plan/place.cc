#include "espalier/plan/place.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace espalier::plan {
namespace {

constexpr std::int64_t kAlignment = 64;

/// The bytes below the end that nobody holds, by where they are and by how many they are.
class Holes {
 public:
  /// Takes `bytes` from the smallest hole that has them; -1 if none has.
  std::int64_t take(std::int64_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found == by_size_.end()) return -1;
    const auto [size, at] = *found;
    by_size_.erase(found);
    by_place_.erase(at);
    if (size > bytes) add(at + bytes, size - bytes);
    return at;
  }
  /// Gives bytes back, joined with the holes beside them.
  void give(std::int64_t at, std::int64_t bytes) {
    auto next = by_place_.lower_bound(at);
    if (next != by_place_.end() && next->first == at + bytes) {
      bytes += next->second;
      by_size_.erase({next->second, next->first});
      next = by_place_.erase(next);
    }
    if (next != by_place_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        at = before->first;
        bytes += before->second;
        by_size_.erase({before->second, before->first});
        by_place_.erase(before);
      }
    }
    add(at, bytes);
  }
  /// Takes away the hole that ends at `end`, if there is one; returns where it began, else `end`.
  std::int64_t cut(std::int64_t end) {
    if (by_place_.empty()) return end;
    const auto last = std::prev(by_place_.end());
    if (last->first + last->second != end) return end;
    const std::int64_t at = last->first;
    by_size_.erase({last->second, at});
    by_place_.erase(last);
    return at;
  }

 private:
  void add(std::int64_t at, std::int64_t bytes) {
    by_place_.emplace(at, bytes);
    by_size_.emplace(bytes, at);
  }

  std::map<std::int64_t, std::int64_t> by_place_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
};

}  // namespace

std::int64_t place(std::vector<Lease>& leases) {
  std::vector<std::uint32_t> by_first(leases.size());
  std::iota(by_first.begin(), by_first.end(), 0U);
  std::vector<std::uint32_t> by_last = by_first;
  std::stable_sort(by_first.begin(), by_first.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return leases[a].first < leases[b].first; });
  std::stable_sort(by_last.begin(), by_last.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return leases[a].last < leases[b].last; });
  const auto size_of = [&](const Lease& lease) { return (lease.bytes + kAlignment - 1) / kAlignment * kAlignment; };

  Holes holes;
  std::int64_t end = 0;
  std::int64_t most = 0;
  std::size_t over = 0;
  for (std::uint32_t i : by_first) {
    Lease& lease = leases[i];
    for (; over < by_last.size() && leases[by_last[over]].last < lease.first; ++over) {
      const Lease& old = leases[by_last[over]];
      if (old.bytes > 0) holes.give(old.at, size_of(old));
    }
    if (lease.bytes == 0) continue;
    lease.at = holes.take(size_of(lease));
    if (lease.at < 0) {
      lease.at = holes.cut(end);
      end = lease.at + size_of(lease);
      most = std::max(most, end);
    }
  }
  return most;
}

}  // namespace espalier::plan
