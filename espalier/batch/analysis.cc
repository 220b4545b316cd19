#include "espalier/batch/analysis.h"

#include <algorithm>

#include "espalier/base/at.h"

namespace espalier::batch {
namespace {

/// The largest group of signatures that is counted exactly: a counter for each of them and open node.
constexpr std::int32_t kMostCounters = 64;

}  // namespace

void Analysis::start_nodes(const Graph& graph) {
  const std::int32_t size = graph.size();
  const std::int32_t* signatures = graph.signature.data();
  const std::int32_t* begins = graph.input_begin.data();
  nodes_of_.assign(at(graph.signatures), 0);
  std::int32_t* nodes_of = nodes_of_.data();
  Node* nodes = nodes_.room(at(size));
  std::int32_t* sources = sources_.room(at(size) + 1);  // one further may be written
  uses_.room(graph.inputs.size() + 1);                  // as count() may
  for (std::int32_t v = 0; v < size; ++v) {
    const std::int32_t inputs = begins[v + 1] - begins[v];
    const std::int32_t signature = signatures[v];
    nodes[v] = {0, signature, inputs, Users::kNobody};
    ++nodes_of[signature];
    *sources = v;
    sources += inputs == 0 ? 1 : 0;
  }
  sources_count_ = static_cast<std::size_t>(sources - sources_.data());
}

/// Whether there are groups of several signatures that can be counted.
bool Analysis::find_groups(std::int32_t signatures) {
  members_.resize(at(signatures));
  largest_group_ = 0;
  exact_ = true;
  for (std::int32_t s = 0; s < signatures; ++s) {
    const std::int32_t members = components_.size_of(s);
    const bool counted = members > 1 && members <= kMostCounters;
    members_[at(s)] = counted ? Member{components_.component(s), components_.place(s)} : Member{-1, 0};
    if (counted) largest_group_ = std::max(largest_group_, members);
    if (members > kMostCounters) exact_ = false;
  }
  return largest_group_ > 0;
}

void Analysis::start_levels(std::int32_t signatures) {
  levels_.resize(at(signatures));
  tops_.resize(at(signatures));
  for (std::int32_t s = 0; s < signatures; ++s) {
    levels_[at(s)] = {s, s, 0, 1};
    tops_[at(s)] = s;
  }
}

std::int32_t Analysis::add_level(std::int32_t below) {
  const auto level = static_cast<std::int32_t>(levels_.size());
  const std::int32_t signature = levels_[at(below)].signature;
  levels_[at(below)].above = level;
  levels_.push_back({signature, below, 0, 0});
  tops_[at(signature)] = level;
  return level;
}

/// Heights, users and levels, users first. Until a node is met, its level is the largest among the users of its
/// signature, or in a group its block of counters and the number of signatures. A block has the largest level reached
/// of each signature of the group, 0 for none. A path that leaves a group never comes back, so blocks are only handed
/// on within it. False if there are more levels than a counter can hold.
template <bool kGroups, class Counter>
bool Analysis::count(const Graph& graph, Counters<Counter>& counters) {
  start_levels(graph.signatures);
  counters.clear(largest_group_);
  const std::int32_t* signatures = graph.signature.data();
  const std::int32_t* begins = graph.input_begin.data();
  const std::int32_t* inputs = graph.inputs.data();
  const Member* members = members_.data();
  const std::int32_t first_block = graph.signatures;
  Node* nodes = nodes_.data();
  Use* uses = uses_.data();
  std::int32_t uses_count = 0;
  for (std::int32_t v = graph.size() - 1; v >= 0; --v) {
    Node& node = nodes[v];
    const std::int32_t signature = signatures[v];
    const Member member = kGroups ? members[signature] : Member{-1, 0};
    const bool grouped = kGroups && member.group >= 0;
    std::int32_t block = -1;
    std::int32_t below = node.level;
    if (grouped) {
      block = node.level >= first_block ? node.level - first_block : counters.add();
      below = std::max(signature, static_cast<std::int32_t>(counters.counter(block, member.place)));
    }
    std::int32_t level = levels_[at(below)].above;
    if (level == 0) level = add_level(below);
    ++levels_[at(level)].unready;
    node.level = level;
    if (grouped) {
      if (level > counters.kLargest) return false;
      counters.counter(block, member.place) = static_cast<Counter>(level);
    }
    const std::int32_t height = node.height + 1;
    bool handed_on = false;
    for (const std::int32_t *i = inputs + begins[v], *end = inputs + begins[v + 1]; i != end; ++i) {
      Node& input = nodes[*i];
      // Written without branches where they would be as random as the graph.
      input.height = std::max(input.height, height);
      const bool used = input.users != Users::kNobody;
      uses[uses_count] = {v, input.users};
      input.users = Users{used ? kNobody - 1 - uses_count : v};
      uses_count += used ? 1 : 0;
      const std::int32_t input_signature = signatures[*i];
      if (!grouped) {
        input.level = std::max(input.level, input_signature == signature ? level : 0);
      } else if (members[input_signature].group == member.group) {
        if (input.level >= first_block) {
          counters.raise(input.level - first_block, block);
        } else {
          input.level = first_block + (handed_on ? counters.add_copy(block) : block);
          handed_on = true;
        }
      }
    }
    if (grouped && !handed_on) counters.remove(block);
  }
  return true;
}

void Analysis::count_levels(const Graph& graph) {
  start_nodes(graph);
  if (!find_groups(graph.signatures)) {
    count<false>(graph, short_counters_);
    return;
  }
  if (count<true>(graph, short_counters_)) return;
  start_nodes(graph);  // what count() has written is of no use
  count<true>(graph, long_counters_);
}

void Analysis::look_at(const Graph& graph) {
  generations_.look_at(graph, pairs_, components_);
  count_levels(graph);
}

std::optional<Schedule> Analysis::schedule_or_look_at(const Graph& graph) {
  if (generations_.look_at(graph, pairs_, components_)) return generations_.schedule(graph, pairs_, components_);
  count_levels(graph);
  return std::nullopt;
}

}  // namespace espalier::batch
