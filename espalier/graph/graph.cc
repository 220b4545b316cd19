#include "espalier/graph/graph.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/graph/limits.h"

namespace espalier {

Graph::Graph(const GraphOptions& options) : Recorder(options, *this) {}

Graph::~Graph() = default;

void Graph::clear() {
  generation_ = slot_->generation.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (keeps_signatures())
    parameters_.forget_nodes();
  else
    forget_signatures();
  if (runtime_ != nullptr) runtime_->clear();
  ++epoch_;
  known_cells_.drop_if_many();
  notes_.clear();
  size_ = 0;
  room_ = 0;
  recording_.reset();
  any_many_ = false;
  any_derived_ = false;
  leaf_data_.clear();
  field_size_ = 0;
  instances_ = 0;
  current_instance_ = kNoInstance;
  set_first_key(0);
  random_ops_ = 0;
  any_random_ = false;
  step_.reset();
}

void Graph::set_first_key(std::uint64_t key) {
  first_key_ = key;
  instance_key_ = key_outside(key);
}

std::uint64_t Graph::step() {
  if (!step_) step_ = is_trace() || !options_.training ? options_.step.value_or(0) : options_.take_step();
  return *step_;
}

void Graph::set_step(std::uint64_t step) {
  if (any_random_)
    throw UsageError(
        fmt::format("set_step: this graph has recorded random ops of step {}, and step {} is given\n"
                    "  hint: call it before the first of them, or after clear()",
                    this->step(), step));
  step_ = step;
}

void Graph::begin_instance() { begin_instance(first_key_ + static_cast<std::uint64_t>(instances_)); }

void Graph::begin_instance(std::uint64_t key) {
  if (instances_ == GraphLimits::current().instances)
    throw ResourceError(fmt::format("graph: it has {} instances, the most there can be", instances_));
  current_instance_ = InstanceId{instances_++};
  instance_key_ = key;
  random_ops_ = 0;
}

}  // namespace espalier
