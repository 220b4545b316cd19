/// Our rule. Let own(v) be the most nodes of v's signature on a path that starts at v, and the bound the sum over
/// signatures of the largest own() left. A signature is free if all its nodes left of the largest own() are ready:
/// running it lowers the bound by one, so a schedule of free steps alone has as few steps as there can be.
///
/// While some signature is free, run the free one whose ready nodes reach highest (longest path to a sink); else run
/// the ready one that does, a forced step. Ties go to more rows, then to the lowest node.
#include <algorithm>
#include <queue>

#include "espalier/batch/analysis.h"
#include "espalier/batch/ready.h"

namespace espalier::batch {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Why a signature is preferred.
struct Claim {
  std::int32_t height = -1;
  std::int32_t rows = 0;
  std::int32_t lowest = 0;
  std::int32_t signature = 0;

  bool operator==(const Claim&) const = default;
  bool operator<(const Claim& other) const {
    if (height != other.height) return height < other.height;
    if (rows != other.rows) return rows < other.rows;
    if (lowest != other.lowest) return lowest > other.lowest;
    return signature > other.signature;
  }
};

/// Nodes left and ready of each signature by own(), in one array: those of signature s from begin[s] on.
struct Counts {
  std::vector<std::int32_t> begin;
  std::vector<std::int32_t> left;
  std::vector<std::int32_t> ready;
  std::vector<std::int32_t> largest;  // own() left of each signature, 0 when it is done

  Counts(const Graph& graph, const Paths& paths)
      : begin(at(graph.signatures) + 1, 0), largest(at(graph.signatures), 0) {
    for (std::int32_t v = 0; v < graph.size(); ++v) {
      std::int32_t& most = largest[at(graph.signature[at(v)])];
      most = std::max(most, paths.own[at(v)]);
    }
    for (std::int32_t s = 0; s < graph.signatures; ++s) begin[at(s) + 1] = begin[at(s)] + largest[at(s)];
    left.assign(at(begin.back()), 0);
    ready.assign(at(begin.back()), 0);
    for (std::int32_t v = 0; v < graph.size(); ++v) ++left[slot(graph.signature[at(v)], paths.own[at(v)])];
  }
  std::size_t slot(std::int32_t signature, std::int32_t own) const { return at(begin[at(signature)] + own - 1); }
  bool free(std::int32_t signature) const {
    const std::size_t top = slot(signature, largest[at(signature)]);
    return ready[top] == left[top];
  }
};

}  // namespace

Schedule schedule_frontier(const Graph& graph) {
  const Paths paths = paths_of(graph);
  Counts counts(graph, paths);
  std::vector<Claim> claims(at(graph.signatures));  // of the ready nodes of each signature
  std::vector<std::int32_t> touched;                // signatures whose claim changed since the last choice
  std::vector<std::uint8_t> is_touched(at(graph.signatures), 0);

  const auto added = [&](std::int32_t node) {
    const std::int32_t signature = graph.signature[at(node)];
    Claim& claim = claims[at(signature)];
    claim.lowest = claim.rows == 0 ? node : std::min(claim.lowest, node);
    claim.height = std::max(claim.height, paths.height[at(node)]);
    ++claim.rows;
    ++counts.ready[counts.slot(signature, paths.own[at(node)])];
    if (is_touched[at(signature)] == 0) {
      is_touched[at(signature)] = 1;
      touched.push_back(signature);
    }
  };

  // Claims only grow until their signature runs, so an entry that differs from its signature's claim is outdated.
  std::priority_queue<Claim> free_claims;
  std::priority_queue<Claim> ready_claims;
  const auto next = [&](std::priority_queue<Claim>& queue) {
    while (!queue.empty() && !(queue.top() == claims[at(queue.top().signature)])) queue.pop();
    if (queue.empty()) return -1;
    const std::int32_t signature = queue.top().signature;
    queue.pop();
    return signature;
  };

  Ready ready(graph);
  ready.start(added);
  std::int64_t forced = 0;
  while (!ready.finished()) {
    for (std::int32_t signature : touched) {
      is_touched[at(signature)] = 0;
      Claim& claim = claims[at(signature)];
      claim.signature = signature;
      (counts.free(signature) ? free_claims : ready_claims).push(claim);
    }
    touched.clear();
    std::int32_t signature = next(free_claims);
    if (signature < 0) {
      signature = next(ready_claims);
      ++forced;
    }
    for (std::int32_t v : ready.of(signature)) {
      const std::size_t slot = counts.slot(signature, paths.own[at(v)]);
      --counts.left[slot];
      --counts.ready[slot];
    }
    std::int32_t& largest = counts.largest[at(signature)];
    while (largest > 0 && counts.left[counts.slot(signature, largest)] == 0) --largest;
    claims[at(signature)] = Claim{};
    ready.run(signature, added);
  }
  Schedule result = ready.take();
  set_bound(result, paths);
  result.forced = forced;
  return result;
}

}  // namespace espalier::batch
