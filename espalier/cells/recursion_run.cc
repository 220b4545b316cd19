// Runs a recursion over the rows of a step: forward by height, backward the other way round.
#include <algorithm>
#include <span>

#include "espalier/base/at.h"
#include "espalier/base/threads.h"
#include "espalier/cells/recursion_rows.h"
#include "espalier/kernels/rows.h"

namespace espalier::cells {
namespace {

using Level = RecursionOrder::Level;
using Part = RecursionOrder::Part;

float* data_of(const ConstRows& rows) { return const_cast<float*>(rows.data); }

/// Whether the gradients of x are written kind after kind, and all of them by the first.
bool first_writes_all_of_x(const CompiledRecursion& compiled, RecursionOrder& order) {
  bool is_first = true;
  for (const std::int32_t k : order.kinds()) {
    const RecursionProgram& kind = compiled.kinds()[at(k)];
    if (kind.inputs[0].child != RecursionInput::kX) continue;
    if (!kind.hoists || (is_first && !order.kind(at(k)).reads_all_of_x)) return false;
    is_first = false;
  }
  return !is_first;
}

/// Whether several parts may add to the gradient of one row of x while their levels run.
bool levels_share_x(const CompiledRecursion& compiled, RecursionOrder& order) {
  if (order.reads_all_of_x_once()) return false;
  return std::any_of(order.kinds().begin(), order.kinds().end(), [&](std::int32_t k) {
    const RecursionProgram& kind = compiled.kinds()[at(k)];
    return kind.inputs[0].child == RecursionInput::kX && !kind.hoists;
  });
}

/// The gradients of x: stored where each is read once, or by the first that reads them all, but for those that get none
/// because others are equal; else added to zeros.
GradRows gradient_of_x(const CompiledRecursion& compiled, RecursionOrder& order, const StepIn& in,
                       const GradRows& grads) {
  if (!grads || !grads.stores() || order.reads_all_of_x_once()) return grads;
  const bool is_stored = first_writes_all_of_x(compiled, order);
  for (std::int64_t r = 0; r < grads.rows().count; ++r)
    if (!is_stored || (in.first_equal != nullptr && first_equal_of(in, r) != r))
      kernels::fill(0.0F, {grads.rows()[r], at(grads.width())});
  return {grads.rows(), is_stored};
}

}  // namespace

void run_recursion(const void* attrs, const StepIn& in, const StepOut& out) {
  StepRows step(Pass::kForward, recursion_of(attrs), in, out.results, out.saved.data);
  step.for_each_part(step.is_apart(), [&](const Part& part) {
    step.for_each_kind([&](const RecursionProgram& kind, const KindRows& rows, const RecursionOrder::Kind& order) {
      if (!kind.hoists || order.part != part.number) return;
      step.gather_x(rows, order);
      multiply_hoisted(*kind.program, rows.in, rows.made_of_x());
    });
    for (const Level& level : step.order().levels(part)) {
      step.gather(level);
      step.kind(level.kind).run.forward(level.begin, level.end - level.begin);
      step.copy_equal(level);
    }
  });
}

void run_recursion_backward(const void* attrs, const Saved& saved, Grads& grads) {
  StepRows step(Pass::kBackward, recursion_of(attrs), saved.in, saved.results, data_of(saved.saved));
  RecursionOrder& order = step.order();
  const GradRows of_x = gradient_of_x(recursion_of(attrs), order, saved.in, grads[0]);
  step.open_gradients(saved.result_gradients, saved.unwritten, of_x, saved.deferred.data);
  const bool is_apart = step.is_apart() && !(of_x && levels_share_x(recursion_of(attrs), order));
  if (is_apart && of_x) step.separate_gradients_of_x();
  step.for_each_part(is_apart, [&](const Part& part) {
    const OneThread one(order.shares_children() || (of_x && order.shares_x()));
    const std::span<const Level> levels = order.levels(part);
    for (std::size_t i = levels.size(); i-- > 0;) {
      step.add_equal(levels[i], saved.result_gradients);
      step.kind(levels[i].kind).run.backward(levels[i].begin, levels[i].end - levels[i].begin);
      if (of_x) step.add_to_once(levels[i]);
    }
    step.for_each_kind([&](const RecursionProgram& kind, const KindRows& rows, const RecursionOrder::Kind& of_kind) {
      if (of_x && kind.hoists && of_kind.part == part.number)
        multiply_hoisted_backward(*kind.program, rows.in, rows.made_of_x(), rows.grads[0]);
    });
  });
  if (is_apart && of_x) step.join_gradients_of_x(of_x.rows());
}

void run_recursion_weight_gradients(const void* attrs, const Saved& saved, Grads& grads) {
  StepRows step(Pass::kBackward, recursion_of(attrs), saved.in, saved.results, data_of(saved.saved));
  const Rows dy{data_of(saved.dy), saved.dy.count, saved.dy.width, saved.dy.stride, saved.dy.offsets};
  step.open_deferred(dy, saved.deferred.data);
  std::uint64_t written = 0;
  bool share_weights = false;
  step.for_each_kind([&](const RecursionProgram& kind, KindRows& rows, const RecursionOrder::Kind&) {
    rows.grads.assign(kind.inputs.size(), {});
    for (const std::size_t parameter : kind.parameters) {
      const GradRows& target = grads[parameter];
      const bool is_first = (written >> parameter & 1U) == 0;
      rows.grads.push_back(target ? GradRows(target.rows(), target.stores() && is_first) : GradRows());
    }
    share_weights |= (written & kind.reads) != 0;
    written |= kind.reads;
  });
  const std::span<const std::int32_t> kinds = step.order().kinds();
  const auto count = std::ssize(kinds);
  parallel_for(count, step.is_apart() && !share_weights ? 1 : count, [&](std::int64_t begin, std::int64_t end) {
    for (const std::int32_t k : kinds.subspan(at(begin), at(end - begin))) {
      const KindRows& rows = step.kind(k);
      step.add_to_once({.kind = k, .begin = 0, .end = static_cast<std::int32_t>(rows.count)});
      const HoistedRows of_x{rows.inputs[0], rows.once};
      rows.run.weight_gradients(rows.state_gradients[0], rows.deferred, Grads(rows.grads),
                                rows.multiplies_once() ? of_x : HoistedRows());
    }
  });
  // Of a kind that another step has rows of.
  for (std::size_t i = 1; i < saved.in.size(); ++i)
    if (grads[i] && grads[i].stores() && (written >> i & 1U) == 0)
      kernels::fill(0.0F, {grads[i].rows().data, at(grads[i].width())});
}

}  // namespace espalier::cells
