/// What the engine does when a minibatch takes more than the memory budget: it runs instance after instance, as many at
/// a time as fit, where the loss is a weighted sum over them, or outputs belong to one instance each.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "espalier/base/error.h"
#include "espalier/exec/engine.h"

namespace espalier::exec {
namespace {

/// A node of one instance and its weight in the loss.
struct Term {
  InstanceId instance;
  Seed seed;
};

/// The loss as a sum of terms that each belong to one instance, by instance. Empty if it is none: `meeting` is then the
/// node where instances meet in another way.
std::vector<Term> terms_of(const Graph& graph, NodeId loss, NodeId& meeting) {
  std::vector<Term> terms;
  // The last recorded first: when a node's turn comes, all that use it have had theirs.
  std::map<NodeId, double, std::greater<>> open{{loss, 1}};
  while (!open.empty()) {
    const Seed next{open.begin()->first, open.begin()->second};
    open.erase(open.begin());
    if (graph.instance(next.node) != kJoint) {
      terms.push_back({graph.instance(next.node), next});
      continue;
    }
    const auto weight = graph.signature(next.node).info->weight;
    if (weight == nullptr) {
      meeting = next.node;
      return {};
    }
    const std::span<const NodeId> inputs = graph.inputs(next.node);
    std::size_t rows = 0;
    for (NodeId input : inputs) rows += static_cast<std::size_t>(graph.rows(input));
    for (NodeId input : inputs) open[input] += next.factor * weight(rows);
  }
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return a.instance != b.instance ? a.instance < b.instance : a.seed.node < b.seed.node;
  });
  return terms;
}

}  // namespace

bool Engine::fits(std::int64_t more) const {
  const std::int64_t budget = graph_.options().memory_budget;
  return budget == 0 || memory_.bytes_used() + more <= budget;
}

std::int64_t Engine::training_bytes(const plan::Plan* plan, const BackwardOptions& options) const {
  const bool one_run = runs_.size() + (plan != nullptr ? 1 : 0) == 1 && options.wanted.empty();
  const auto gradients = [&](const plan::Plan& of) { return one_run ? of.gradients.bytes : of.all_gradients.bytes; };
  std::int64_t bytes = plan != nullptr ? plan->values.bytes + gradients(*plan) : 0;
  for (const Run& run : runs_) bytes += gradients(*run.plan);
  return bytes;
}

void Engine::refuse(std::string_view what, std::int64_t bytes, std::string_view why) const {
  throw ResourceError(fmt::format("{}: it takes {} bytes, {} are in use, and the memory budget is {}\n  {}", what,
                                  bytes, memory_.bytes_used(), graph_.options().memory_budget, why));
}

void Engine::differentiate_in_parts(NodeId loss, const BackwardOptions& options, std::int64_t bytes) {
  if (!options.wanted.empty()) refuse("backward", bytes, "with wanted gradients a minibatch is not divided");
  NodeId meeting{};
  const std::vector<Term> terms = terms_of(graph_, loss, meeting);
  if (terms.empty())
    refuse("backward", bytes,
           fmt::format("instances meet before the loss, in {}  {}, so that the minibatch cannot be divided",
                       graph_.describe(meeting), graph_.source(meeting).to_string()));

  // All parts are found before any runs: a refusal leaves the gradients alone.
  forget_values();
  std::vector<std::span<const Term>> parts;
  std::vector<std::span<const Term>> open{terms};
  while (!open.empty()) {
    const std::span<const Term> part = open.back();
    open.pop_back();
    std::vector<NodeId> nodes;
    for (const Term& term : part) nodes.push_back(term.seed.node);
    std::int64_t takes = 0;
    if (Work* work = prepare(nodes, plan::Lifetime::kTraining))
      takes = training_bytes(plan_of(work->problem).get(), options);
    forget_values();
    if (fits(takes)) {
      parts.push_back(part);
      continue;
    }
    if (part.front().instance == part.back().instance)
      refuse("backward", takes,
             part.front().instance == kNoInstance
                 ? "that is what belongs to no instance alone"
                 : fmt::format("that is instance {} alone", index_of(part.front().instance)));
    // Divided in the middle, or after the instance that is there.
    std::size_t middle = part.size() / 2;
    while (middle > 0 && part[middle - 1].instance == part[middle].instance) --middle;
    if (middle == 0)
      while (part[middle].instance == part.front().instance) ++middle;
    open.push_back(part.subspan(middle));
    open.push_back(part.first(middle));
  }

  // Values that outlive their part: of the terms, and what the user asked to keep.
  std::vector<NodeId> kept;
  std::vector<std::byte> values;            // one after the other
  const auto bytes_of = [&](NodeId node) {  // as doubles want them
    const auto all = static_cast<std::size_t>(graph_.bytes(node));
    return (all + sizeof(double) - 1) / sizeof(double) * sizeof(double);
  };
  const auto keep_value = [&](NodeId node) {
    kept.push_back(node);
    const std::size_t begin = values.size();
    values.resize(begin + bytes_of(node));
    std::memcpy(values.data() + begin, value(node), static_cast<std::size_t>(graph_.bytes(node)));
  };
  double total = 0;
  BackwardOptions without_values = options;  // later parts read them
  without_values.values = nullptr;
  for (const std::span<const Term> part : parts) {
    std::vector<NodeId> nodes;
    std::vector<Seed> seeds;
    for (const Term& term : part) {
      nodes.push_back(term.seed.node);
      seeds.push_back(term.seed);
    }
    if (Work* work = prepare(nodes, plan::Lifetime::kTraining)) run(*work, plan_of(work->problem));
    std::vector<Seed> scaled = seeds;
    for (Seed& seed : scaled) seed.factor *= options.factor;
    go_back(scaled, Wishes(graph_, scaled, without_values));
    for (const Seed& seed : seeds) {
      for (std::int64_t row = 0; row < graph_.rows(seed.node); ++row)
        total += seed.factor * (graph_.type(loss).dtype == DType::kFloat32
                                    ? static_cast<double>(reinterpret_cast<const float*>(value(seed.node))[row])
                                    : reinterpret_cast<const double*>(value(seed.node))[row]);
      keep_value(seed.node);
    }
    for (std::int32_t i = 0; i < graph_.size(); ++i)
      if ((table_.flags[at(NodeId{i})] & NodeTable::kKeep) != 0 && table_.has_value(NodeId{i})) keep_value(NodeId{i});
    forget_values();
    ++statistics_.parts;
  }
  // The loss is the sum of its terms: nothing need be run for it.
  std::byte* to = memory_.take(static_cast<std::int64_t>(values.size() + sizeof(double)));
  if (graph_.type(loss).dtype == DType::kFloat32)
    *reinterpret_cast<float*>(to) = static_cast<float>(total);
  else
    *reinterpret_cast<double*>(to) = total;
  table_.set_value(loss, to);
  to += sizeof(double);
  std::memcpy(to, values.data(), values.size());
  for (NodeId node : kept) {
    if (node != loss) table_.set_value(node, to);
    to += bytes_of(node);
  }
}

void Engine::finish_in_parts(std::span<const NodeId> outputs, std::int64_t bytes) {
  if (outputs.size() < 2) refuse("finish", bytes, "that is for one output alone");
  ++statistics_.parts;
  const std::size_t middle = outputs.size() / 2;
  finish(outputs.first(middle));
  finish(outputs.subspan(middle));
}

}  // namespace espalier::exec
