#include "espalier/exec/run/plan_cache.h"

#include <array>
#include <list>
#include <mutex>
#include <unordered_map>

namespace espalier::exec {
namespace {

/// Nodes of all kept problems together: some 100 bytes each.
constexpr std::int64_t kMostNodes = std::int64_t{1} << 21;

class Cache {
 public:
  std::shared_ptr<const plan::Plan> find(const plan::Problem& problem, std::uint64_t hash) {
    const std::scoped_lock lock(mutex_);
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
      if (!(at->second->problem == problem)) continue;
      entries_.splice(entries_.begin(), entries_, at->second);
      return at->second->plan;
    }
    return nullptr;
  }

  bool offer(const plan::Problem& problem, std::uint64_t hash, const std::shared_ptr<const plan::Plan>& plan) {
    const std::scoped_lock lock(mutex_);
    Seen& seen = seen_[hash % seen_.size()];
    const bool comes_soon = seen.hash == hash && offers_ - seen.offer <= 4 * most_;
    seen = {hash, offers_++};
    if (!comes_soon || most_ == 0 || problem.size() > kMostNodes / 4) return false;
    entries_.push_front({problem, hash, plan});
    by_hash_.emplace(hash, entries_.begin());
    nodes_ += problem.size();
    shrink();
    return true;
  }

  void resize(std::size_t most) {
    const std::scoped_lock lock(mutex_);
    most_ = most;
    seen_.fill({});
    shrink();
  }

 private:
  /// A plan that was not kept, and when that was.
  struct Seen {
    std::uint64_t hash = 0;
    std::uint64_t offer = 0;
  };
  struct Entry {
    plan::Problem problem;
    std::uint64_t hash;
    std::shared_ptr<const plan::Plan> plan;
  };

  void shrink() {
    while (entries_.size() > most_ || nodes_ > kMostNodes) {
      const auto last = std::prev(entries_.end());
      const auto [begin, end] = by_hash_.equal_range(last->hash);
      for (auto at = begin; at != end; ++at)
        if (at->second == last) {
          by_hash_.erase(at);
          break;
        }
      nodes_ -= last->problem.size();
      entries_.erase(last);
    }
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_multimap<std::uint64_t, std::list<Entry>::iterator> by_hash_;
  std::array<Seen, 4096> seen_{};  // newer ones in the place of older ones
  std::uint64_t offers_ = 0;
  std::size_t most_ = 256;
  std::int64_t nodes_ = 0;
};

Cache& cache() {
  static Cache the_cache;
  return the_cache;
}

}  // namespace

std::shared_ptr<const plan::Plan> find_plan(const plan::Problem& problem, std::uint64_t hash) {
  return cache().find(problem, hash);
}

bool offer_plan(const plan::Problem& problem, std::uint64_t hash, const std::shared_ptr<const plan::Plan>& plan) {
  return cache().offer(problem, hash, plan);
}

void set_plan_cache_size(std::size_t plans) { cache().resize(plans); }

}  // namespace espalier::exec
