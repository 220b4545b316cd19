/// How values are computed again instead of kept, where the memory budget does not let them stay.
#include <algorithm>
#include <utility>

#include "espalier/exec/run/engine.h"
#include "espalier/kernels/rows.h"

namespace espalier::exec {
namespace {

constexpr std::size_t kMostSegments = 1024;

std::vector<Expr> exprs_of(const Graph& graph, std::span<const NodeId> nodes) {
  std::vector<Expr> exprs;
  for (NodeId node : nodes) exprs.push_back(graph.expr(node));
  return exprs;
}

void add_gradient(Checkpoint& to, Tensor gradient) {
  if (!to.has_gradient) {
    to.gradient = std::move(gradient);
    to.has_gradient = true;
  } else if (gradient.dtype() == DType::kFloat32) {
    kernels::add(std::as_const(gradient).as<float>(), to.gradient.as<float>());
  } else {
    const std::span<const double> more = std::as_const(gradient).as<double>();
    const std::span<double> sum = to.gradient.as<double>();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  }
}

/// The options for one segment, whose gradients go on to what it is given.
BackwardOptions options_of(const Graph& graph, const Segment& segment, const BackwardOptions& options) {
  BackwardOptions result = options;
  result.wanted = exprs_of(graph, segment.given);
  return result;
}

}  // namespace

std::vector<Segment> Engine::segments_that_fit(std::span<const Seed> seeds, const BackwardOptions& options) {
  std::vector<NodeId> nodes;
  for (const Seed& seed : seeds) nodes.push_back(seed.node);
  std::vector<NodeId> needed = ancestors(graph_, nodes, marks_, [](NodeId) { return true; });
  std::erase_if(needed, [&](NodeId node) { return graph_.inputs(node).empty(); });
  for (std::size_t count = 2; count <= std::min(kMostSegments, needed.size()); count *= 2) {
    std::vector<Segment> segments = cut(graph_, needed, seeds, count);
    if (fits(bytes_of(segments, options))) return segments;
  }
  return {};
}

std::int64_t Engine::bytes_of(std::span<const Segment> segments, const BackwardOptions& options) {
  std::int64_t checkpoints = 0;
  std::int64_t most = 0;                           // with what the engine has in use beside it
  const auto give = [&](const Segment& segment) {  // nothing is computed
    for (NodeId node : segment.given) {
      table_.set_value(node, nullptr);
      table_.flags[at(node)] |= NodeTable::kGiven;
    }
  };
  for (const Segment& segment : segments) {
    std::int64_t made = 0;
    for (NodeId node : segment.made) made += graph_.bytes(node);
    checkpoints += 2 * made + std::ssize(segment.made) * std::int64_t{sizeof(Checkpoint)};
    if (!segment.made.empty()) {
      give(segment);
      if (Work* work = prepare(segment.made, plan::Lifetime::kFinish))
        most = std::max(most, memory_beside() + run_bytes(*plan_of(work->problem)) + made);
      forget_values();
    }
    std::int64_t given = 0;
    for (NodeId node : segment.given) given += graph_.bytes(node);
    give(segment);
    if (Work* work = prepare(segment.targets(), plan::Lifetime::kTraining))
      most = std::max(most, memory_beside() + given +
                                training_bytes(plan_of(work->problem).get(), options_of(graph_, segment, options)));
    forget_values();
  }
  return checkpoints + most - memory_beside();
}

void Engine::give_values(const Segment& segment, const Checkpoints& checkpoints) {
  for (NodeId node : segment.given) {
    const Tensor& value = checkpoints.at(index_of(node)).value;
    // Nothing writes to a leaf.
    table_.set_value(node, const_cast<std::byte*>(value.data()));
    table_.flags[at(node)] |= NodeTable::kGiven;
  }
}

void Engine::compute_checkpoints(const Segment& segment, Checkpoints& checkpoints) {
  if (segment.made.empty()) return;
  give_values(segment, checkpoints);
  if (Work* work = prepare(segment.made, plan::Lifetime::kFinish)) {
    run(*work, plan_of(work->problem));
    // explain() says what ran, and this runs once more.
    memory_of_finished_ -= finished_.back().memory();
    finished_.pop_back();
  }
  for (NodeId node : segment.made) {
    Tensor value(graph_.value_shape(node), graph_.type(node).dtype);
    std::copy_n(this->value(node), value.bytes(), value.data());
    checkpoint_bytes_ += 2 * graph_.bytes(node) + std::int64_t{sizeof(Checkpoint)};
    checkpoints[index_of(node)].value = std::move(value);
  }
  forget_values();
}

void Engine::differentiate_segments(std::span<const Segment> segments, const BackwardOptions& options,
                                    const std::function<void(const Segment&)>& read) {
  Checkpoints checkpoints;
  struct Forget {
    std::int64_t& bytes;
    ~Forget() { bytes = 0; }
  } const at_the_end{checkpoint_bytes_};
  for (const Segment& segment : segments.first(segments.size() - 1)) compute_checkpoints(segment, checkpoints);
  for (std::size_t s = segments.size(); s-- > 0;) {
    const Segment& segment = segments[s];
    give_values(segment, checkpoints);
    if (Work* work = prepare(segment.targets(), plan::Lifetime::kTraining)) {
      if (s + 1 < segments.size()) statistics_.recomputed += std::ssize(work->nodes);
      run(*work, plan_of(work->problem));
    }
    std::vector<Seed> seeds = segment.seeds;
    for (Seed& seed : seeds) seed.factor *= options.factor;
    for (NodeId node : segment.made)
      if (const Checkpoint& known = checkpoints.at(index_of(node)); known.has_gradient)
        seeds.push_back({node, 1, &known.gradient});
    const BackwardOptions of_segment = options_of(graph_, segment, options);
    std::vector<Tensor> gradients = go_back(seeds, BackwardRequest(graph_, known_, seeds, of_segment));
    for (std::size_t i = 0; i < gradients.size(); ++i)
      add_gradient(checkpoints.at(index_of(segment.given[i])), std::move(gradients[i]));
    read(segment);
    forget_values();
  }
}

}  // namespace espalier::exec
