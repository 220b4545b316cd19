/// Why nodes of one op did not run together: what differs between their signatures, chains, and runs of their own.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "espalier/exec/explain/report.h"

namespace espalier::exec {
namespace {

constexpr std::size_t kShown = 4;

/// "a, b and c"; of many, the first few and how many more.
std::string listed(const std::vector<std::string>& words, std::size_t all) {
  std::string text;
  const std::size_t shown = std::min(words.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : i + 1 == all ? " and " : ", ") + words[i];
  if (all > shown) text += fmt::format(" and {} more", all - shown);
  return text;
}

class Reasons {
 public:
  Reasons(const Graph& graph, std::span<const Group> groups) : graph_(graph) {
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i].nodes > 0) groups_.push_back({groups[i], i % NodeTable::kVariants == 1});
    std::sort(groups_.begin(), groups_.end(),
              [](const Known& a, const Known& b) { return a.group.first < b.group.first; });
  }

  std::vector<Apart> find(bool divided) {
    if (graph_.options().own_strategy == nullptr && graph_.options().strategy == Strategy::kNone) {
      add(Apart::Why::kNoStrategy, groups_, "each node is a step of its own, as the strategy is none");
    } else {
      find_differences();
      find_chains();
      find_runs(divided);
      find_own_weights();
    }
    find_plain();
    std::stable_sort(sentences_.begin(), sentences_.end(),
                     [](const Apart& a, const Apart& b) { return a.nodes > b.nodes; });
    return std::move(sentences_);
  }

 private:
  struct Known {
    Group group;
    bool apart = false;
  };

  const OpInfo& op(const Known& known) const { return *graph_.signature(known.group.first).info; }

  /// "tanh model.cc:8, linear model.cc:7 and 3 more".
  std::string places(std::span<const Known> groups) const {
    std::vector<std::string> words;
    std::unordered_set<std::string> known;
    for (const Known& of : groups) {
      std::string word = fmt::format("{} {}", op(of).name, graph_.source(of.group.first).to_string());
      if (known.insert(word).second && words.size() < kShown) words.push_back(std::move(word));
    }
    return listed(words, known.size());
  }

  void add(Apart::Why kind, std::span<const Known> groups, std::string_view why) {
    if (groups.empty()) return;
    Apart apart{.kind = kind, .places = places(groups), .why = std::string(why), .groups = {}};
    for (const Known& of : groups) {
      apart.nodes += of.group.nodes;
      apart.steps += of.group.steps;
      apart.least_steps =
          kind == Apart::Why::kKinds ? std::max(apart.least_steps, of.group.steps) : apart.least_steps + of.group.chain;
      apart.groups.push_back(of.group.number);
    }
    sentences_.push_back(std::move(apart));
  }

  template <class Condition>
  std::vector<Known> those(const Condition& condition) const {
    std::vector<Known> found;
    std::copy_if(groups_.begin(), groups_.end(), std::back_inserter(found), condition);
    return found;
  }

  // --- signatures that differ ----------------------------------------------------------------------------------------

  /// Something that is part of a signature, as a number for each group of an op: equal numbers, equal things.
  struct Aspect {
    std::vector<std::int64_t> values;
    std::string (Reasons::*name)(const Aspect&, std::span<const Known>) const = nullptr;
    std::size_t operand = 0;
  };

  /// Whether groups that are equal in `known` are equal in `aspect` as well: then it explains nothing more.
  static bool follows(const Aspect& aspect, const Aspect& known) {
    std::unordered_map<std::int64_t, std::int64_t> value;
    for (std::size_t g = 0; g < aspect.values.size(); ++g)
      if (value.try_emplace(known.values[g], aspect.values[g]).first->second != aspect.values[g]) return false;
    return true;
  }
  static bool varies(const Aspect& aspect) {
    return std::any_of(aspect.values.begin(), aspect.values.end(),
                       [&](std::int64_t value) { return value != aspect.values[0]; });
  }

  /// One text for each value that occurs.
  template <class TextOf>
  std::string examples(const Aspect& aspect, std::span<const Known> groups, const TextOf& text_of) const {
    std::vector<std::string> words;
    std::unordered_set<std::int64_t> known;
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (known.insert(aspect.values[g]).second && words.size() < kShown)
        words.push_back(text_of(groups[g].group.first));
    return listed(words, known.size());
  }

  std::string name_operand(const Aspect& aspect, std::span<const Known> groups) const {
    const std::size_t i = aspect.operand;
    const auto is_shared = [&](const Known& of) { return is_one_for_all(graph_, of.group.first, i); };
    const auto type = [&](NodeId node) -> const Type& { return graph_.type(graph_.inputs(node)[i]); };
    const bool any_shared = std::any_of(groups.begin(), groups.end(), is_shared);
    const bool one_type = std::all_of(groups.begin(), groups.end(), [&](const Known& of) {
      return type(of.group.first).dtype == type(groups[0].group.first).dtype;
    });
    const std::string values = examples(aspect, groups, [&](NodeId node) {
      if (is_one_for_all(graph_, node, i)) return shared_name(graph_, graph_.inputs(node)[i]);
      const std::string text = one_type ? type(node).shape.to_string() : type(node).to_string();
      return any_shared ? text + " of each node" : text;
    });
    return fmt::format("{}{} differs ({})",
                       any_shared ? ""
                       : one_type ? "the shape of "
                                  : "the type of ",
                       op(groups[0]).inputs[i].name, values);
  }
  std::string name_shapes(const Aspect& aspect, std::span<const Known> groups) const {
    return fmt::format("the shapes of {} differ ({})", op(groups[0]).inputs[0].name,
                       examples(aspect, groups, [&](NodeId node) {
                         std::string text;
                         const std::span<const NodeId> inputs = graph_.inputs(node);
                         const std::size_t shown = std::min(inputs.size(), kShown);
                         for (std::size_t i = 0; i < shown; ++i)
                           text += (i == 0 ? "" : " ") + graph_.type(inputs[i]).shape.to_string();
                         return inputs.size() > shown ? text + " ..." : text;
                       }));
  }
  std::string name_count(const Aspect& aspect, std::span<const Known> groups) const {
    return fmt::format("the number of operands differs ({})", examples(aspect, groups, [&](NodeId node) {
                         return fmt::format("{}", graph_.inputs(node).size());
                       }));
  }
  std::string name_attributes(const Aspect& /*aspect*/, std::span<const Known> /*groups*/) const {
    return "the attributes differ";
  }
  std::string name_apart(const Aspect& /*aspect*/, std::span<const Known> /*groups*/) const {
    return "the gradients of some are wanted by themselves";
  }

  /// A number for each different list of words.
  template <class WordsOf>
  static std::vector<std::int64_t> numbered(std::span<const Known> groups, const WordsOf& words_of) {
    std::map<std::vector<std::uint32_t>, std::int64_t> known;
    std::vector<std::int64_t> values;
    for (const Known& of : groups)
      values.push_back(known.try_emplace(words_of(of), static_cast<std::int64_t>(known.size())).first->second);
    return values;
  }

  std::vector<Aspect> aspects_of(std::span<const Known> groups) const {
    const OpInfo& info = op(groups[0]);
    const auto inputs = [&](const Known& of) { return graph_.inputs(of.group.first); };
    const auto type = [&](NodeId node) { return static_cast<std::uint32_t>(index_of(graph_.type_id(node))); };
    std::vector<Aspect> shared;
    std::vector<Aspect> rest;
    if (info.takes_any_number()) {
      if (!info.is_ragged()) {
        Aspect count{.values = {}, .name = &Reasons::name_count};
        for (const Known& of : groups) count.values.push_back(std::ssize(inputs(of)));
        rest.push_back(std::move(count));
      }
      rest.push_back({.values = numbered(groups,
                                         [&](const Known& of) {
                                           std::vector<std::uint32_t> types;
                                           for (NodeId input :
                                                inputs(of).first(info.is_ragged() ? 1 : inputs(of).size()))
                                             types.push_back(type(input));
                                           return types;
                                         }),
                      .name = info.is_ragged() ? &Reasons::name_operand : &Reasons::name_shapes});
    }
    for (std::size_t i = 0; i < info.inputs.size() && !info.takes_any_number(); ++i) {
      Aspect aspect{.values = {}, .name = &Reasons::name_operand, .operand = i};
      bool any_shared = false;
      for (const Known& of : groups) {
        const bool is_shared = is_one_for_all(graph_, of.group.first, i);
        any_shared |= is_shared;
        // Nodes count from 0 on, types from -1 down.
        aspect.values.push_back(is_shared ? index_of(inputs(of)[i]) : -1 - std::int64_t{type(inputs(of)[i])});
      }
      (any_shared ? shared : rest).push_back(std::move(aspect));
    }
    rest.push_back({.values = numbered(groups,
                                       [&](const Known& of) {
                                         const auto* words =
                                             static_cast<const std::uint32_t*>(graph_.attrs(of.group.first));
                                         return std::vector<std::uint32_t>(words, words + info.attr_words);
                                       }),
                    .name = &Reasons::name_attributes});
    Aspect apart{.values = {}, .name = &Reasons::name_apart};
    for (const Known& of : groups) apart.values.push_back(of.apart ? 1 : 0);
    rest.push_back(std::move(apart));
    shared.insert(shared.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    return shared;
  }

  void find_differences() {
    std::map<std::int32_t, std::vector<Known>> by_op;
    for (const Known& of : groups_) by_op[index_of(op(of).id)].push_back(of);
    for (const auto& [id, groups] : by_op) {
      if (groups.size() < 2) continue;
      std::vector<Aspect> told;
      std::string why;
      for (Aspect& aspect : aspects_of(groups)) {
        if (!varies(aspect)) continue;
        if (std::any_of(told.begin(), told.end(), [&](const Aspect& known) { return follows(aspect, known); }))
          continue;
        why += (why.empty() ? "" : ", and ") + (this->*aspect.name)(aspect, groups);
        told.push_back(std::move(aspect));
      }
      add(Apart::Why::kKinds, groups, fmt::format("{} kinds that cannot run together, as {}", groups.size(), why));
    }
  }

  // --- the rest ------------------------------------------------------------------------------------------------------

  void find_chains() {
    std::map<std::tuple<std::int64_t, std::int64_t, bool>, std::vector<Known>> alike;
    for (const Known& of : groups_)
      if (of.group.steps > 1) alike[{of.group.steps, of.group.chain, of.group.is_exact}].push_back(of);
    for (const auto& [key, groups] : alike) {
      const auto [steps, chain, is_exact] = key;
      std::string why = fmt::format("{} steps{}", steps, groups.size() > 1 ? " each" : "");
      const std::int64_t forced = steps - chain;
      if (chain > 1)
        why += fmt::format(", as {}{} nodes wait for each other in a chain", is_exact ? "" : "at least ", chain);
      if (forced > 0)
        why += fmt::format("{} {} {} forced by the order of the other steps", chain > 1 ? ";" : ", of which", forced,
                           forced == 1 ? "was" : "were");
      add(forced > 0 ? Apart::Why::kForced : Apart::Why::kChain, groups, why);
    }
  }

  void find_runs(bool divided) {
    std::map<std::int64_t, std::vector<Known>> alike;
    for (const Known& of : groups_)
      if (of.group.runs > 1) alike[of.group.runs].push_back(of);
    for (const auto& [runs, groups] : alike)
      add(Apart::Why::kRuns, groups,
          fmt::format("in {} runs, as {}", runs,
                      divided ? "values were asked for in between or the memory budget divided them"
                              : "values were asked for in between"));
  }

  /// Products of one step that are not one product.
  void find_own_weights() {
    std::map<std::string, std::vector<Known>> by_names;
    for (const Known& of : groups_) {
      const OpInfo& info = op(of);
      if (info.kind != Kind::kProduct || info.takes_any_number() || of.group.nodes < 2) continue;
      std::string names;
      bool any_shared = false;
      for (std::size_t i = 0; i < info.inputs.size(); ++i) {
        const NodeId node = of.group.first;
        if (info.inputs[i].role != Role::kEither || graph_.type(graph_.inputs(node)[i]).shape.rank() < 2) continue;
        any_shared |= is_one_for_all(graph_, node, i);
        names += (names.empty() ? "" : " and ") + std::string(info.inputs[i].name);
      }
      if (!any_shared && !names.empty()) by_names[names].push_back(of);
    }
    for (const auto& [names, groups] : by_names)
      add(Apart::Why::kOwnWeights, groups,
          fmt::format("a product for each node, as each has {} of its own: neither a parameter nor computed from "
                      "parameters alone",
                      names));
  }

  void find_plain() {
    add(Apart::Why::kPlain, those([&](const Known& of) {
          return of.group.nodes > 1 && graph_.type(of.group.first).dtype == DType::kFloat64;
        }),
        "node by node within each step, as float64 is computed by the plain code");
  }

  const Graph& graph_;
  std::vector<Known> groups_;
  std::vector<Apart> sentences_;
};

}  // namespace

std::vector<Apart> reasons(const Graph& graph, std::span<const Group> groups, bool divided) {
  return Reasons(graph, groups).find(divided);
}

}  // namespace espalier::exec
