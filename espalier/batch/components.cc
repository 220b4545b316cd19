#include "espalier/batch/components.h"

#include <algorithm>
#include <utility>

namespace espalier::batch {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// The distinct edges between different signatures, in compressed form.
struct Edges {
  std::vector<std::int32_t> begin;
  std::vector<std::int32_t> to;
};

Edges compressed(std::int32_t signatures, const std::vector<std::uint64_t>& sorted_pairs) {
  Edges edges;
  edges.begin.assign(at(signatures) + 1, 0);
  for (std::uint64_t pair : sorted_pairs) {
    ++edges.begin[(pair >> 32) + 1];
    edges.to.push_back(static_cast<std::int32_t>(pair & 0xFFFFFFFFU));
  }
  for (std::size_t s = 0; s + 1 < edges.begin.size(); ++s) edges.begin[s + 1] += edges.begin[s];
  return edges;
}

/// Calls f(from, to) for every use of a node of one signature by a node of another.
template <class F>
void for_each_use(const Graph& graph, const F& f) {
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    const auto to = static_cast<std::uint64_t>(graph.signature[at(v)]);
    for (std::int32_t input : graph.inputs_of(v)) {
      const auto from = static_cast<std::uint64_t>(graph.signature[at(input)]);
      if (from != to) f(from, to);
    }
  }
}

/// Few signatures, the usual case: a bit for each pair.
std::vector<std::uint64_t> pairs_by_bits(const Graph& graph) {
  const std::size_t words = (at(graph.signatures) + 63) / 64;
  std::vector<std::uint64_t> bits(at(graph.signatures) * words, 0);
  for_each_use(graph, [&](std::uint64_t from, std::uint64_t to) {
    bits[from * words + to / 64] |= std::uint64_t{1} << (to % 64);
  });
  std::vector<std::uint64_t> pairs;
  for (std::uint64_t from = 0; from < at(graph.signatures); ++from)
    for (std::uint64_t to = 0; to < at(graph.signatures); ++to)
      if ((bits[from * words + to / 64] >> (to % 64) & 1U) != 0) pairs.push_back(from << 32 | to);
  return pairs;
}

/// Many signatures. Neighbouring nodes repeat the same few pairs: a small table of those seen last keeps most of them
/// out of the sort.
std::vector<std::uint64_t> pairs_by_sorting(const Graph& graph) {
  std::vector<std::uint64_t> recent(1024, ~std::uint64_t{0});
  std::vector<std::uint64_t> pairs;
  for_each_use(graph, [&](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t pair = from << 32 | to;
    std::uint64_t& seen = recent[(pair * 0x9E3779B97F4A7C15ULL) >> 54];
    if (seen == pair) return;
    seen = pair;
    pairs.push_back(pair);
  });
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

Edges distinct_edges(const Graph& graph) {
  constexpr std::int32_t kFew = 256;
  return compressed(graph.signatures, graph.signatures <= kFew ? pairs_by_bits(graph) : pairs_by_sorting(graph));
}

}  // namespace

/// Tarjan's algorithm (1972) with a stack of its own in place of recursion.
Components signature_components(const Graph& graph) {
  const Edges edges = distinct_edges(graph);
  const std::int32_t n = graph.signatures;
  Components result;
  result.component.assign(at(n), -1);
  result.place.assign(at(n), 0);

  std::vector<std::int32_t> number(at(n), -1);  // order of the first visit
  std::vector<std::int32_t> low(at(n), 0);      // the smallest number known to be reachable
  std::vector<std::int32_t> open;               // visited, component not known yet
  struct Visit {
    std::int32_t signature;
    std::int32_t next_edge;
  };
  std::vector<Visit> visits;
  std::int32_t count = 0;
  const auto enter = [&](std::int32_t s) {
    number[at(s)] = low[at(s)] = count++;
    open.push_back(s);
    visits.push_back({s, edges.begin[at(s)]});
  };

  for (std::int32_t root = 0; root < n; ++root) {
    if (number[at(root)] >= 0) continue;
    enter(root);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const std::int32_t s = visit.signature;
      if (visit.next_edge < edges.begin[at(s) + 1]) {
        const std::int32_t to = edges.to[at(visit.next_edge++)];
        if (number[at(to)] < 0)
          enter(to);
        else if (result.component[at(to)] < 0)
          low[at(s)] = std::min(low[at(s)], number[at(to)]);
        continue;
      }
      if (low[at(s)] == number[at(s)]) {  // s was the first of its component to be visited
        const auto component = static_cast<std::int32_t>(result.size.size());
        std::int32_t members = 0;
        for (std::int32_t member = -1; member != s;) {
          member = open.back();
          open.pop_back();
          result.component[at(member)] = component;
          result.place[at(member)] = members++;
        }
        result.size.push_back(members);
      }
      visits.pop_back();
      if (!visits.empty()) {
        const std::int32_t parent = visits.back().signature;
        low[at(parent)] = std::min(low[at(parent)], low[at(s)]);
      }
    }
  }
  return result;
}

}  // namespace espalier::batch
