// Plans of espalier.torch: the order of rows. What operands are made of is in torch_gathers.h.
#include "torch_plan.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "espalier/batch/schedule.h"
#include "torch_gathers.h"

namespace espalier::python {

namespace {

constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

class Planner {
 public:
  Planner(const TorchRecording& recording, Strategy strategy)
      : recording_(recording), done_(recording.done()), size_(recording.size() - recording.done()) {
    look_at_graph();
    schedule_ = batch::schedule(strategy, graph());
    steps_ = static_cast<std::int32_t>(schedule_.steps());
  }

  TorchPlan plan() {
    find_first_uses();
    order_rows();
    place_rows();
    TorchGathers gathers(recording_, plan_, first_use_);
    for (std::int32_t s = 0; s < steps_; ++s) gathers.fill(s);
    plan_.nodes = std::move(schedule_.order);
    for (std::int32_t& node : plan_.nodes) node += done_;
    plan_.step_begin = std::move(schedule_.step_begin);
    plan_.bound = schedule_.bound;
    plan_.forced = schedule_.forced;
    return std::move(plan_);
  }

 private:
  // The nodes that have not run, numbered from 0; inputs that have run do not matter to a schedule.
  void look_at_graph() {
    signature_.reserve(at(size_));
    input_begin_.reserve(at(size_) + 1);
    input_begin_.push_back(0);
    for (std::int32_t v = 0; v < size_; ++v) {
      signature_.push_back(recording_.signature_of(done_ + v));
      for (const TorchInput& input : recording_.inputs_of(done_ + v))
        if (input.node >= done_) inputs_.push_back(input.node - done_);
      input_begin_.push_back(static_cast<std::int32_t>(inputs_.size()));
    }
  }
  batch::Graph graph() const { return {signature_, recording_.signatures(), input_begin_, inputs_}; }
  std::span<std::int32_t> step(std::int32_t s) {
    const auto begin = at(schedule_.step_begin[at(s)]);
    return std::span(schedule_.order).subspan(begin, at(schedule_.step_begin[at(s) + 1]) - begin);
  }

  // A node counts as used first by the step that uses fewest nodes of its step: that of many can take any order, and
  // few rows of many would have to be looked for. Ties go to the earliest.
  void find_first_uses() {
    step_of_.resize(at(size_));
    for (std::int32_t s = 0; s < steps_; ++s)
      for (const std::int32_t v : step(s)) step_of_[at(v)] = s;
    std::vector<std::int32_t> user_begin(at(size_) + 1);
    std::vector<std::int32_t> user_steps(inputs_.size());
    for (const std::int32_t input : inputs_) ++user_begin[at(input) + 1];
    for (std::size_t v = 0; v < at(size_); ++v) user_begin[v + 1] += user_begin[v];
    std::vector<std::int32_t> next(user_begin.begin(), user_begin.end() - 1);
    for (std::int32_t v = 0; v < size_; ++v)
      for (const std::int32_t input : graph().inputs_of(v)) user_steps[at(next[at(input)]++)] = step_of_[at(v)];
    first_use_.assign(at(size_), kNever);
    std::vector<std::int32_t> uses(at(steps_));
    const auto users = [&](std::int32_t v) {
      const auto begin = at(user_begin[at(v)]);
      return std::span(user_steps).subspan(begin, at(user_begin[at(v) + 1]) - begin);
    };
    for (std::int32_t s = 0; s < steps_; ++s) {
      for (const std::int32_t v : step(s))
        for (const std::int32_t user : users(v)) ++uses[at(user)];
      for (const std::int32_t v : step(s))
        for (const std::int32_t user : users(v))
          if (std::int32_t& first = first_use_[at(v)];
              first == kNever || std::tie(uses[at(user)], user) < std::tie(uses[at(first)], first))
            first = user;
      for (const std::int32_t v : step(s))
        for (const std::int32_t user : users(v)) uses[at(user)] = 0;
    }
  }

  // From the last step to the first: rows lie in the order in which the step of their first use wants them.
  void order_rows() {
    std::vector<std::int32_t> rank(at(size_), -1);
    std::int32_t next = 0;
    for (std::int32_t s = steps_ - 1; s >= 0; --s) {
      const auto key = [&](std::int32_t v) { return std::pair(first_use_[at(v)], rank[at(v)]); };
      std::ranges::stable_sort(step(s), {}, key);
      for_each_operand(recording_, done_, step(s), [&](std::int32_t, TorchInput input) {
        const std::int32_t v = input.node - done_;
        if (v >= 0 && first_use_[at(v)] == s && rank[at(v)] < 0) rank[at(v)] = next++;
      });
    }
  }

  // From the first step to the last: numbers of blocks and rows. A step whose rows are all used first by one other, or
  // by none, can take the order of its first operand's rows.
  void place_rows() {
    plan_.places.resize(at(size_));
    plan_.steps.resize(at(steps_));
    for (std::int32_t s = 0; s < steps_; ++s) {
      const auto nodes = step(s);
      TorchStep& planned = plan_.steps[at(s)];
      planned.signature = signature_[at(nodes.front())];
      planned.block = recording_.blocks() + s;
      planned.nodes = static_cast<std::int32_t>(nodes.size());
      if (first_use_[at(nodes.front())] == first_use_[at(nodes.back())]) take_order_of_operand(planned, nodes);
      std::int32_t row = 0;
      for (const std::int32_t v : nodes) {
        if (row == 0 || first_use_[at(v)] != first_use_[at(nodes[at(row - 1)])]) planned.segments.push_back(0);
        ++planned.segments.back();
        plan_.places[at(v)] = {planned.block, row++};
      }
    }
  }

  void take_order_of_operand(const TorchStep& planned, std::span<std::int32_t> nodes) {
    const TorchSignature& signature = recording_.signature(planned.signature);
    if (signature.any_number || signature.inputs.empty()) return;
    const auto key = [&](std::int32_t v) {
      const std::int32_t input = recording_.inputs_of(done_ + v).front().node;
      const TorchPlace place = input < done_ ? recording_.place_of(input) : plan_.places[at(input - done_)];
      return std::pair(place.block, place.row);
    };
    if (!std::ranges::is_sorted(nodes, {}, key)) std::ranges::stable_sort(nodes, {}, key);
  }

  const TorchRecording& recording_;
  std::int32_t done_;
  std::int32_t size_;
  std::int32_t steps_ = 0;
  std::vector<std::int32_t> signature_, input_begin_, inputs_;
  batch::Schedule schedule_;
  std::vector<std::int32_t> step_of_;
  std::vector<std::int32_t> first_use_;  // a step, or kNever
  TorchPlan plan_;
};

}  // namespace

TorchPlan make_torch_plan(const TorchRecording& recording, Strategy strategy) {
  if (recording.done() == recording.size()) return {};
  return Planner(recording, strategy).plan();
}

}  // namespace espalier::python
