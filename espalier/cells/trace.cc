#include "espalier/cells/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "espalier/base/at.h"
#include "espalier/base/error.h"

namespace espalier::cells {
namespace {

/// What a cell's inputs are to a graph that refuses one of them.
const OpInfo& info_for_refusals(const std::string& name) {
  thread_local std::string text;
  thread_local OpInfo info;
  static const std::array<Input, 1> any{Input{"input", Role::kMany, -1}};
  text = fmt::format("cell \"{}\"", name);
  info.name = text;
  info.inputs = any;
  return info;
}

/// The function's results for new leaves of the same shapes.
class Trace {
 public:
  Trace(const std::string& name, const Graph& of, std::span<const Operand> inputs) : name_(name), graph_(of.options()) {
    graph_.start_trace(name);
    for (const Operand& input : inputs) {
      if (input.parameter() != nullptr)
        exprs_.push_back(graph_.add_trace_input(input.shape(), /*shared=*/true, input.where()));
      else
        exprs_.push_back(graph_.add_trace_input(input.shape(), of.shared(input.expr().node()), input.where()));
      inputs_.push_back(exprs_.back().node());
    }
  }

  void run(const FunctionRef& function) {
    ExprList results;
    function.call(function.object, exprs_, results);
    for (const Expr& result : results) {
      if (!graph_.owns(result))
        throw CellError(
            fmt::format("cell \"{}\": its function gives back an Expr that it neither made nor was given", name_));
      results_.push_back(result.node());
    }
    if (results_.empty() || results_.size() > kMostResults)
      throw CellError(fmt::format("cell \"{}\": its function gives back {} Exprs; 1 to {} are possible", name_,
                                  results_.size(), kMostResults));
    for (std::int32_t i = 0; i < graph_.size(); ++i) check(NodeId{i});
  }

  const Graph& graph() const { return graph_; }
  std::span<const NodeId> inputs() const { return inputs_; }
  std::span<const NodeId> results() const { return results_; }

 private:
  static constexpr std::size_t kMostResults = 16;

  void check(NodeId node) const {
    const OpInfo& info = *graph_.signature(node).info;
    const std::string where = "\n  at " + graph_.source(node).to_string();
    const bool is_given = std::find(inputs_.begin(), inputs_.end(), node) != inputs_.end();
    if (info.kind == Kind::kLeaf && !is_given && graph_.parameter_of(node) == nullptr)
      throw CellError(
          fmt::format("cell \"{}\": its function makes a leaf; give it as an input instead{}", name_, where));
    if (info.field_bytes > 0 && info.kind != Kind::kMap && info.kind != Kind::kLeaf && !info.random)
      throw CellError(fmt::format(
          "cell \"{}\": {} takes a number of its own at every node, and a cell is traced once; call it outside "
          "of the cell{}",
          name_, info.name, where));
  }

  const std::string& name_;
  Graph graph_;
  std::vector<Expr> exprs_;
  std::vector<NodeId> inputs_;
  std::vector<NodeId> results_;
};

/// Divides what was traced into what depends on outer inputs alone, and the rest.
class Division {
 public:
  Division(const std::string& name, const CellOptions& options, const Trace& trace)
      : name_(name), options_(options), trace_(trace), graph_(trace.graph()) {
    const auto n = static_cast<std::size_t>(graph_.size());
    inner_.assign(n, false);
    product_.assign(n, false);
    const std::span<const NodeId> inputs = trace.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!graph_.shared(inputs[i]) && std::find(options.outer.begin(), options.outer.end(), i) == options.outer.end())
        inner_[at(inputs[i])] = true;
    for (std::int32_t i = 0; i < graph_.size(); ++i) {
      const NodeId node{i};
      for (NodeId input : graph_.inputs(node)) {
        inner_[at(node)] = inner_[at(node)] || inner_[at(input)];
        product_[at(node)] = product_[at(node)] || product_[at(input)];
      }
      product_[at(node)] = product_[at(node)] || graph_.signature(node).info->kind == Kind::kProduct;
    }
  }

  std::shared_ptr<const Compiled> compile() {
    auto compiled = std::make_shared<Compiled>();
    for (std::int32_t i = 0; i < graph_.size(); ++i) {
      const OpInfo& info = *graph_.signature(NodeId{i}).info;
      compiled->random_ops += info.random ? 1 : 0;
      compiled->takes_lists = compiled->takes_lists || info.is_ragged();
    }
    const std::vector<NodeId> boundary = find_boundary();
    if (!boundary.empty()) {
      compiled->projection_inputs = sources_of(/*inner=*/false);
      compiled->projection = program(name_ + ".outer", compiled->projection_inputs, {}, boundary);
    }
    const bool divided = compiled->projection != nullptr;
    compiled->update_inputs = sources_of(/*inner=*/true);
    if (!divided) {
      compiled->update_inputs.clear();
      for (std::size_t i = 0; i < trace_.inputs().size(); ++i)
        compiled->update_inputs.push_back({Compiled::From::kInput, i});
    }
    std::vector<NodeId> computed;
    for (NodeId result : trace_.results()) {
      const auto input = std::find(trace_.inputs().begin(), trace_.inputs().end(), result);
      if (input != trace_.inputs().end()) {
        compiled->results.push_back(
            {Compiled::From::kInput, static_cast<std::size_t>(input - trace_.inputs().begin())});
      } else if (const auto there = std::find(boundary.begin(), boundary.end(), result);
                 divided && there != boundary.end()) {
        compiled->results.push_back({Compiled::From::kProjection, static_cast<std::size_t>(there - boundary.begin())});
      } else {
        compiled->results.push_back({Compiled::From::kUpdate, computed.size()});
        computed.push_back(result);
      }
    }
    if (computed.empty()) {
      if (!divided) *compiled = {};
      return compiled;
    }
    if (divided) {
      for (std::size_t k = 0; k < boundary.size(); ++k)
        if (is_used_inside(boundary[k])) compiled->update_inputs.push_back({Compiled::From::kProjection, k});
    }
    compiled->update = program(name_, compiled->update_inputs, boundary, computed);
    if (compiled->update == nullptr) {
      *compiled = {};
      compiled->why_not = why_not_;
    }
    return compiled;
  }

 private:
  bool is_input(NodeId node) const {
    return std::find(trace_.inputs().begin(), trace_.inputs().end(), node) != trace_.inputs().end();
  }
  bool is_used_inside(NodeId node) const {
    for (std::int32_t i = 0; i < graph_.size(); ++i)
      for (NodeId input : graph_.inputs(NodeId{i}))
        if (input == node && inner_[static_cast<std::size_t>(i)]) return true;
    return false;
  }

  /// Values of outer inputs alone that the rest needs. Without a product among them a node of their own does not pay.
  std::vector<NodeId> find_boundary() const {
    std::vector<NodeId> boundary;
    bool any_product = false;
    const auto add = [&](NodeId node) {
      if (inner_[at(node)] || graph_.shared(node) || is_input(node)) return;
      if (std::find(boundary.begin(), boundary.end(), node) != boundary.end()) return;
      boundary.push_back(node);
      any_product = any_product || product_[at(node)];
    };
    for (std::int32_t i = 0; i < graph_.size(); ++i)
      if (inner_[static_cast<std::size_t>(i)])
        for (NodeId input : graph_.inputs(NodeId{i})) add(input);
    for (NodeId result : trace_.results()) add(result);
    const bool all_outer =
        std::none_of(trace_.results().begin(), trace_.results().end(), [&](NodeId node) { return inner_[at(node)]; });
    if (!any_product || options_.outer.empty() || all_outer) boundary.clear();
    return boundary;
  }

  /// The inputs that are outer, or the others with those outer ones that are read as they are.
  std::vector<Compiled::Source> sources_of(bool inner) const {
    std::vector<Compiled::Source> sources;
    for (std::size_t i = 0; i < trace_.inputs().size(); ++i) {
      const NodeId input = trace_.inputs()[i];
      if (graph_.shared(input) || (inner ? inner_[at(input)] || is_used_inside(input) : !inner_[at(input)]))
        sources.push_back({Compiled::From::kInput, i});
    }
    return sources;
  }

  std::shared_ptr<Program> program(const std::string& name, std::span<const Compiled::Source> sources,
                                   std::span<const NodeId> boundary, std::span<const NodeId> results) {
    std::vector<NodeId> inputs;
    std::vector<std::string> names;
    for (const Compiled::Source& source : sources) {
      const bool given = source.from == Compiled::From::kInput;
      inputs.push_back(given ? trace_.inputs()[source.number] : boundary[source.number]);
      if (!given)
        names.push_back(fmt::format("outer{}", source.number));
      else
        names.push_back(source.number < options_.inputs.size() ? options_.inputs[source.number]
                                                               : fmt::format("x{}", source.number));
    }
    return Program::compile(name, graph_, inputs, names, results, why_not_);
  }

  const std::string& name_;
  const CellOptions& options_;
  const Trace& trace_;
  const Graph& graph_;
  std::vector<bool> inner_;    // depends on an input that is not outer
  std::vector<bool> product_;  // is a product, or is computed from one
  std::string why_not_;
};

/// The graph that holds all inputs, or null.
Graph* graph_holding(std::span<const Operand> inputs) {
  for (const Operand& input : inputs) {
    if (input.parameter() != nullptr) continue;
    const GraphSlot* const slot = input.expr().slot();
    if (slot == nullptr || slot->generation.load(std::memory_order_acquire) != input.expr().generation())
      return nullptr;
    Graph* const graph = slot->graph.load(std::memory_order_acquire);
    const bool all = std::all_of(inputs.begin(), inputs.end(), [&](const Operand& each) { return graph->holds(each); });
    return all ? graph : nullptr;
  }
  return nullptr;
}

}  // namespace

Graph& graph_of_inputs(const std::string& name, std::span<const Operand> inputs) {
  if (Graph* const graph = graph_holding(inputs)) return *graph;
  const OpInfo& info = info_for_refusals(name);
  if (inputs.empty()) throw UsageError(fmt::format("{}: needs at least one input", info.name));
  Graph& graph = graph_of(info, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!graph.holds(inputs[i])) graph.refuse_input(info, i, inputs[i]);
  return graph;
}

std::shared_ptr<const Compiled> compile(const std::string& name, const CellOptions& options, const Graph& graph,
                                        std::span<const Operand> inputs, const FunctionRef& function) {
  Trace trace(name, graph, inputs);
  trace.run(function);
  return Division(name, options, trace).compile();
}

}  // namespace espalier::cells
