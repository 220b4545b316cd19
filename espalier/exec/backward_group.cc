#include "espalier/exec/backward_group.h"

#include <algorithm>
#include <utility>

#include "espalier/base/threads.h"
#include "espalier/exec/step_pieces.h"
#include "espalier/exec/step_view.h"
#include "espalier/exec/stopwatch.h"
#include "espalier/ops/product_rows.h"

namespace espalier::exec {

void run_rows(const OpInfo& info, const void* attrs, const Saved& saved, std::span<const GradRows> grads,
              std::int64_t begin, std::int64_t end) {
  thread_local std::vector<ConstRows> inputs;
  thread_local std::vector<GradRows> parts;
  parts.clear();
  // The operands of a ragged op are counted from the first of the whole step.
  for (const GradRows& each : grads)
    parts.push_back(saved.in.offsets != nullptr ? each : ops::piece_of(each, begin, end - begin));
  Saved part = saved;
  part.in = part_of(saved.in, begin, end, inputs);
  part.y = ops::piece_of(saved.y, begin, end - begin);
  part.saved = ops::piece_of(saved.saved, begin, end - begin);
  part.dy = ops::piece_of(saved.dy, begin, end - begin);
  Grads into(parts);
  info.backward(attrs, part, into);
}

bool BackwardGroup::may_join(const Saved& saved, const BackwardLists& lists) const {
  if (empty()) return true;
  const auto fits = [&](const GradRows& each) { return !each || touched_.fit(each.rows()); };
  return saved.in.rows == calls_[0].saved.in.rows && touched_.fit(saved.dy) &&
         std::all_of(lists.grads.begin(), lists.grads.end(), fits);
}

void BackwardGroup::add(const OpInfo& info, const void* attrs, const Saved& saved, BackwardLists& lists) {
  if (used_ == calls_.size()) calls_.emplace_back();
  Call& call = calls_[used_++];
  call.info = &info;
  call.attrs = attrs;
  call.saved = saved;
  call.grads = lists.grads;
  std::swap(call.dy_offsets, lists.dy_offsets);
  call.offsets.resize(std::max(call.offsets.size(), call.grads.size()));
  for (std::size_t i = 0; i < call.grads.size(); ++i)
    if (call.grads[i]) std::swap(call.offsets[i], lists.opened[i].offsets);
  touched_.add(saved.dy);
  for (const GradRows& each : call.grads)
    if (each) touched_.add(each.rows());
}

void BackwardGroup::run() {
  if (empty()) return;
  KernelWatch watch(graph_.options().profile);
  const Call& first = calls_[0];
  const StepIn& in = first.saved.in;
  const bool is_product = first.info->kind == Kind::kProduct;
  if (used_ > 1)
    for_each_piece_of_step(graph_, in, first.saved.dy.width, [&](std::int64_t begin, std::int64_t end) {
      for (const Call& call : std::span(calls_).first(used_))
        run_rows(*call.info, call.attrs, call.saved, call.grads, begin, end);
    });
  else if (is_product)  // which divides itself
    run_rows(*first.info, first.attrs, first.saved, first.grads, 0, in.rows);
  else
    parallel_for(in.rows, row_grain(in, first.saved.dy.width), [&](std::int64_t begin, std::int64_t end) {
      run_rows(*first.info, first.attrs, first.saved, first.grads, begin, end);
    });
  watch.stop(used_ == 1 && is_product, statistics_.seconds);
  used_ = 0;
  touched_.clear();
}

}  // namespace espalier::exec
