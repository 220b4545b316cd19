/// What strategies derive from a graph: heights, users, and the counts behind the lower bound. Two passes over the
/// nodes, forwards and backwards; all memory is kept for the next graph.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "espalier/batch/buffer.h"
#include "espalier/batch/components.h"
#include "espalier/batch/counters.h"
#include "espalier/batch/generations.h"
#include "espalier/batch/graph.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

/// Who uses a node: nobody (-1), one node (its number), or a Use (negative), which is one of its users and who else it
/// has. Most nodes have one user or two, and need no list.
enum class Users : std::int32_t { kNobody = -1 };

struct Use {
  std::int32_t user;
  Users others;
};

/// What is known of a node, in one place: whoever asks for one of these soon asks for the others.
struct Node {
  std::int32_t height;          // the longest path to a sink, in edges
  std::int32_t level;           // of own(), see Level
  std::int32_t waiting_inputs;  // inputs that have not run, once a use
  Users users;                  // ascending, once a use
};

/// own(v) is the most nodes of v's signature on any path that starts at v. A level is the nodes of one signature and
/// one own(). What has run is closed under inputs, so no schedule changes own(), and the number of levels with nodes
/// left bounds the steps left.
///
/// Levels are numbered as they are met, users first: of two levels of one signature, that of the larger own() has the
/// larger number. The first ones, one a signature, stand for an own() of 0: no node has it, and it is never done.
struct Level {
  std::int32_t signature;
  std::int32_t below;    // the level of the same signature whose own() is one less
  std::int32_t above;    // and one more, 0 for none
  std::int32_t unready;  // nodes that wait for an input
};

class Analysis {
 public:
  /// Forgets the last graph and looks at this one.
  void look_at(const Graph& graph);
  /// The same, but where no two signatures depend on each other it gives the schedule at once, and has not looked at
  /// anything else.
  std::optional<Schedule> schedule_or_look_at(const Graph& graph);

  Node& node(std::int32_t v) { return nodes_.data()[v]; }
  Level& level(std::int32_t i) { return levels_[static_cast<std::size_t>(i)]; }
  /// Of each signature the level of the largest own(). The caller may lower them.
  std::span<std::int32_t> top_levels() { return tops_; }
  /// How many nodes each signature has.
  std::span<const std::int32_t> nodes_of() const { return nodes_of_; }
  /// The nodes without inputs, ascending.
  std::span<const std::int32_t> sources() const { return {sources_.data(), sources_count_}; }

  /// Calls f(user) for every use.
  template <class F>
  void for_each_user(Users users, const F& f) const {
    auto link = static_cast<std::int32_t>(users);
    for (; link < kNobody; link = static_cast<std::int32_t>(use_at(link).others)) f(use_at(link).user);
    if (link > kNobody) f(link);
  }

  /// Brings what for_each_user() will touch closer to the processor: the use, or the user if it is the only one ...
  void prefetch_use(Users users) const {
    const auto link = static_cast<std::int32_t>(users);
    if (link < kNobody)
      __builtin_prefetch(&use_at(link));
    else if (link > kNobody)
      __builtin_prefetch(nodes_.data() + link, 1);
  }
  /// ... and once the use is there, the first two users.
  void prefetch_users(Users users) const {
    const auto link = static_cast<std::int32_t>(users);
    if (link >= kNobody) return;
    const Use& use = use_at(link);
    __builtin_prefetch(nodes_.data() + use.user, 1);
    if (use.others > Users::kNobody) __builtin_prefetch(nodes_.data() + static_cast<std::int32_t>(use.others), 1);
  }

  std::int64_t bound() const { return static_cast<std::int64_t>(levels_.size() - tops_.size()); }
  /// Fills in what a schedule says about the bound.
  void set_bound(Schedule& schedule) const {
    schedule.bound = bound();
    schedule.bound_is_exact = exact_;
    schedule.forced = schedule.steps() - schedule.bound;
  }

 private:
  static constexpr auto kNobody = static_cast<std::int32_t>(Users::kNobody);
  /// The place of a signature in a group of signatures that depend on each other.
  struct Member {
    std::int32_t group;  // -1 where the signature is counted by itself
    std::int32_t place;
  };

  const Use& use_at(std::int32_t link) const { return uses_.data()[kNobody - 1 - link]; }
  void start_nodes(const Graph& graph);
  bool find_groups(std::int32_t signatures);
  void count_levels(const Graph& graph);
  template <bool kGroups, class Counter>
  bool count(const Graph& graph, Counters<Counter>& counters);
  std::int32_t add_level(std::int32_t below);
  void start_levels(std::int32_t signatures);

  Buffer<Node> nodes_;
  Buffer<Use> uses_;
  Buffer<std::int32_t> sources_;
  std::size_t sources_count_ = 0;
  std::vector<std::int32_t> nodes_of_;
  std::vector<Level> levels_;
  std::vector<std::int32_t> tops_;
  Generations generations_;
  SignaturePairs pairs_;
  Components components_;
  std::vector<Member> members_;
  std::int32_t largest_group_ = 0;
  Counters<std::int16_t> short_counters_;
  Counters<std::int32_t> long_counters_;
  bool exact_ = true;
};

}  // namespace espalier::batch
