/// How explain() reads a run: counts by step, and chains by group.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "espalier/batch/analysis.h"
#include "espalier/exec/explain/report.h"

namespace espalier::exec {
namespace {

/// Numbers the lines of the user's program.
class Lines {
 public:
  std::size_t number_of(const SourceLine& source) {
    if (source.file() == last_.file() && source.line() == last_.line()) return last_number_;
    const auto [file, is_new] = files_.try_emplace(source.file(), 0);
    if (is_new) {  // the same text may lie at several addresses
      const auto next = static_cast<std::uint64_t>(names_.size());
      file->second = names_.try_emplace(source.file(), next).first->second;
    }
    const std::uint64_t key = file->second << 32 | static_cast<std::uint32_t>(source.line());
    last_ = source;
    last_number_ = lines_.try_emplace(key, lines_.size()).first->second;
    return last_number_;
  }

 private:
  std::unordered_map<const char*, std::uint64_t> files_;
  std::unordered_map<std::string_view, std::uint64_t> names_;
  std::unordered_map<std::uint64_t, std::size_t> lines_;
  SourceLine last_{nullptr, 0};
  std::size_t last_number_ = 0;
};

/// Counts different numbers from 0 on.
class Different {
 public:
  void start() {
    ++stamp_;
    count_ = 0;
  }
  void add(std::size_t i) {
    if (i >= seen_.size()) seen_.resize(2 * i + 1, 0);
    if (seen_[i] == stamp_) return;
    seen_[i] = stamp_;
    ++count_;
  }
  std::int64_t count() const { return count_; }

 private:
  std::vector<std::int64_t> seen_;
  std::int64_t stamp_ = 0;
  std::int64_t count_ = 0;
};

constexpr NodeId kNoNode{-1};

std::int64_t bytes_of(const Type& type) { return type.elements * static_cast<std::int64_t>(size_of(type.dtype)); }

}  // namespace

struct RunReader::State {
  State(const Graph& of, const NodeTable& known) : graph(of), table(known) {
    const std::size_t n = table.same.size();
    number.assign(n, -1);
    first_merged.assign(n, kNoNode);
    next_merged.assign(n, kNoNode);
    for (std::size_t i = 0; i < n; ++i) {
      if (at(table.same[i]) == i) continue;
      NodeId& first = first_merged[at(table.same[i])];
      next_merged[i] = first;
      first = NodeId{static_cast<std::int32_t>(i)};
    }
    groups.resize(NodeTable::kVariants * static_cast<std::size_t>(graph.signatures().size()));
    for (std::size_t g = 0; g < groups.size(); ++g) groups[g].number = static_cast<std::int32_t>(g);
    number_in_run.assign(groups.size(), -1);
  }

  std::size_t group_of(NodeId node) const {
    return NodeTable::kVariants * static_cast<std::size_t>(index_of(graph.signature_id(node))) + table.variant(node);
  }
  bool is_view(NodeId node) const { return table.root[at(node)] != node; }
  /// The number in the run of what an operand is taken from, or -1.
  std::int32_t number_of(NodeId operand) const { return number[at(table.root[at(table.same[at(operand)])])]; }

  /// Of the nodes of a run and of the further results of its cells.
  template <class NumberOf>
  void set_numbers(const Run& run, const NumberOf& number_of_node) {
    for (std::size_t i = 0; i < run.nodes.size(); ++i)
      for (std::int32_t k = 0; k < graph.signature(run.nodes[i]).info->results; ++k)
        number[at(NodeId{index_of(run.nodes[i]) + k})] = number_of_node(i);
  }

  /// The longest chain of each group of this run.
  void find_chains(const Run& run) {
    std::vector<std::int32_t> signature;
    std::vector<std::int32_t> begin{0};
    std::vector<std::int32_t> inputs;
    signature.reserve(run.nodes.size());
    begin.reserve(run.nodes.size() + 1);
    for (std::size_t v = 0; v < run.nodes.size(); ++v) {
      std::int32_t& in_run = number_in_run[group_of(run.nodes[v])];
      if (in_run < 0) {
        in_run = static_cast<std::int32_t>(groups_of_run.size());
        groups_of_run.push_back(group_of(run.nodes[v]));
      }
      signature.push_back(in_run);
      for (NodeId operand : graph.inputs(run.nodes[v])) {
        const std::int32_t u = number_of(operand);
        if (u >= 0 && static_cast<std::size_t>(u) < v) inputs.push_back(u);
      }
      begin.push_back(static_cast<std::int32_t>(inputs.size()));
    }
    analysis.look_at({signature, static_cast<std::int32_t>(groups_of_run.size()), begin, inputs});
    chains.assign(groups_of_run.size(), 0);
    for (std::size_t i = 0; i < chains.size(); ++i)
      for (std::int32_t level = analysis.top_levels()[i]; level != static_cast<std::int32_t>(i);
           level = analysis.level(level).below)
        ++chains[i];
  }

  std::int64_t copied_by(const Run& run, std::int32_t step) const {
    const plan::Plan& plan = *run.plan;
    const std::span<const NodeId> nodes = run.rows_of(step);
    std::int64_t copied = 0;
    if (!lies_side_by_side(graph, table, nodes[0])) {
      for (const plan::Block& block : plan.blocks_of(step))
        copied += bytes_of(graph.type(graph.inputs(nodes[0])[static_cast<std::size_t>(block.operand)])) *
                  (block.copy_end - block.copy_begin);
      return copied;
    }
    for (NodeId node : nodes) {
      const std::int32_t whole = number[at(node)];
      std::int64_t to = plan.within[static_cast<std::size_t>(whole)];
      for (NodeId operand : graph.inputs(node)) {
        const std::int64_t bytes = bytes_of(graph.type(operand));
        const std::int32_t u = is_view(table.same[at(operand)]) ? -1 : number_of(operand);
        const bool is_there = u >= 0 && plan.inside[static_cast<std::size_t>(u)] == whole &&
                              plan.within[static_cast<std::size_t>(u)] == to;
        if (!is_there) copied += bytes;
        to += bytes;
      }
    }
    return copied;
  }

  void add_instance(NodeId node, StepFacts& facts) {
    const InstanceId instance = graph.instance(node);
    facts.any_joint |= instance == kJoint;
    facts.any_shared |= graph.shared(node);
    if (index_of(instance) < 0) return;
    instances_of_step.add(static_cast<std::size_t>(index_of(instance)));
    instances_of_run.add(static_cast<std::size_t>(index_of(instance)));
  }

  StepFacts read_step(const Run& run, std::int32_t step) {
    const std::span<const NodeId> nodes = run.rows_of(step);
    StepFacts facts;
    facts.group = static_cast<std::int32_t>(group_of(nodes[0]));
    facts.first = *std::min_element(nodes.begin(), nodes.end());
    facts.nodes = static_cast<std::int64_t>(nodes.size());
    facts.copied = copied_by(run, step);
    instances_of_step.start();
    lines_of_step.start();
    for (NodeId node : nodes) {
      facts.rows += graph.rows(node);
      lines_of_step.add(lines.number_of(graph.source(node)));
      add_instance(node, facts);
      for (NodeId other = first_merged[at(node)]; other != kNoNode; other = next_merged[at(other)])
        add_instance(other, facts);
    }
    facts.instances = instances_of_step.count();
    facts.other_lines = lines_of_step.count() - 1;
    return facts;
  }

  RunFacts read(const Run& run) {
    set_numbers(run, [](std::size_t i) { return static_cast<std::int32_t>(i); });
    find_chains(run);
    RunFacts facts;
    facts.steps.reserve(static_cast<std::size_t>(run.plan->steps()));
    instances_of_run.start();
    std::vector<std::int64_t> steps(groups_of_run.size(), 0);
    for (std::int32_t step = 0; step < run.plan->steps(); ++step) {
      const StepFacts& of = facts.steps.emplace_back(read_step(run, step));
      facts.copied += of.copied;
      const auto g = static_cast<std::size_t>(of.group);
      ++steps[static_cast<std::size_t>(number_in_run[g])];
      groups[g].nodes += of.nodes;
      groups[g].first = std::min(groups[g].first, of.first);
    }
    facts.instances = instances_of_run.count();
    for (std::size_t i = 0; i < groups_of_run.size(); ++i) {
      Group& group = groups[groups_of_run[i]];
      if (steps[i] > 0) ++group.runs;
      if (steps[i] > group.steps) {
        group.steps = steps[i];
        group.chain = chains[i];
        group.is_exact = run.plan->bound_is_exact;
      }
      number_in_run[groups_of_run[i]] = -1;
    }
    groups_of_run.clear();
    set_numbers(run, [](std::size_t) { return -1; });
    return facts;
  }

  const Graph& graph;
  const NodeTable& table;
  std::vector<Group> groups;
  std::vector<std::int32_t> number;  // in the run being read, by node; -1 for all others
  std::vector<NodeId> first_merged;  // with a node, and from there the next
  std::vector<NodeId> next_merged;
  Lines lines;
  Different lines_of_step;
  Different instances_of_step;
  Different instances_of_run;
  batch::Analysis analysis;
  std::vector<std::int32_t> number_in_run;  // of groups; -1 for those without nodes there
  std::vector<std::size_t> groups_of_run;
  std::vector<std::int64_t> chains;
};

RunReader::RunReader(const Graph& graph, const NodeTable& table) : state_(std::make_unique<State>(graph, table)) {}
RunReader::~RunReader() = default;

RunFacts RunReader::read(const Run& run) { return state_->read(run); }
std::span<const Group> RunReader::groups() const { return state_->groups; }

bool is_one_for_all(const Graph& graph, NodeId node, std::size_t i) {
  return !graph.signature(node).info->takes_any_number() && is_shared_operand(graph, node, i);
}

}  // namespace espalier::exec
