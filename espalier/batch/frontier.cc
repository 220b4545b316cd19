/// Our rule. Let own(v) be the most nodes of v's signature on a path that starts at v, and the bound the sum over
/// signatures of the largest own() left. A signature is free if all its nodes left of the largest own() are ready:
/// running it lowers the bound by one, so a schedule of free steps alone has as few steps as there can be.
///
/// While some signature is free, run the free one whose ready nodes reach highest (longest path to a sink); else run
/// the ready one that does, a forced step. Ties go to more rows, then to the lowest node.
///
/// Where no two signatures depend on each other, some signature is free at all times, and which runs first changes no
/// number of steps: then the steps are found without choosing (generations.h).
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "espalier/base/at.h"
#include "espalier/batch/strategies.h"

namespace espalier::batch {
namespace {

constexpr std::uint64_t kFree = std::uint64_t{1} << 63;

}  // namespace

Schedule schedule_frontier(const Graph& graph, Workspace& work) {
  Analysis& analysis = work.analysis;
  Ready& ready = work.ready;
  if (std::optional<Schedule> known = analysis.schedule_or_look_at(graph)) return std::move(*known);
  std::vector<Claim>& claims = work.claims;
  claims.assign(at(graph.signatures), Claim{});
  std::vector<Entry>& entries = work.entries;  // a heap
  entries.clear();
  const std::span<std::int32_t> tops = analysis.top_levels();

  ready.start(graph, analysis);
  while (!ready.finished()) {
    ready.for_each_changed([&](std::int32_t signature, std::span<const ReadyNode> nodes) {
      Claim claim = claims[at(signature)];
      for (const ReadyNode& node : nodes) {
        claim.height = std::max(claim.height, node.height);
        claim.lowest = std::min(claim.lowest, node.node);
        --analysis.level(node.level).unready;
      }
      claims[at(signature)] = claim;
      const bool free = analysis.level(tops[at(signature)]).unready == 0;
      const auto height = static_cast<std::uint64_t>(claim.height);
      const auto rows = static_cast<std::uint64_t>(ready.rows(signature));
      entries.push_back({(free ? kFree : 0) | height << 32 | rows, claim.lowest, signature});
      std::push_heap(entries.begin(), entries.end());
    });

    // A claim only grows until its signature runs, so an entry with other rows or another lowest node is outdated.
    Entry best{};
    do {
      std::pop_heap(entries.begin(), entries.end());
      best = entries.back();
      entries.pop_back();
    } while (static_cast<std::int32_t>(best.rank & 0xFFFFFFFFU) != ready.rows(best.signature) ||
             best.lowest != claims[at(best.signature)].lowest);

    // All its ready nodes run, so levels are done down to the first with nodes that are not ready.
    std::int32_t& top = tops[at(best.signature)];
    while (analysis.level(top).unready == 0) top = analysis.level(top).below;
    claims[at(best.signature)] = Claim{};
    ready.run(best.signature, analysis);
  }
  Schedule result = ready.take();
  analysis.set_bound(result);
  return result;
}

}  // namespace espalier::batch
