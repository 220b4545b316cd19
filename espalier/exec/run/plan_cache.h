/// Plans of problems that come again, one table a process, least recently used first out.
///
/// A plan is kept from the second time on that its problem is met: most minibatches of random order never come again,
/// and need not be stored.
///
/// Thread safety: any thread at any time.
#pragma once

#include <cstdint>
#include <memory>

#include "espalier/plan/plan.h"
#include "espalier/plan/problem.h"

namespace espalier::exec {

/// The plan of an equal problem, or null. `hash` must be hash_of(problem).
std::shared_ptr<const plan::Plan> find_plan(const plan::Problem& problem, std::uint64_t hash);
/// Keeps a plan, if its problem was offered before, and not so long ago that the plan would be gone by the next time.
/// Gives whether it did.
bool offer_plan(const plan::Problem& problem, std::uint64_t hash, const std::shared_ptr<const plan::Plan>& plan);

/// How many plans are kept at most; those kept in addition are dropped. 0 switches the cache off and empties it.
void set_plan_cache_size(std::size_t plans);

}  // namespace espalier::exec
