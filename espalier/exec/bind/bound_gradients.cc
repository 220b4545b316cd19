#include "espalier/exec/bind/bound_gradients.h"

#include <algorithm>

namespace espalier::exec {

void BoundGradients::open(const BoundStep& view, const Step& step, Saved& saved) {
  view_ = &view;
  step_ = step;
  saved.dy = rows_of_result<const float>(view.y().width, 0, lists_.dy_offsets);
  if (!view.results().empty()) open_results(saved);
  open_operands();
  settle();
}

/// The gradients of result k of the step's nodes.
template <class T>
BasicRows<T> BoundGradients::rows_of_result(std::int64_t width, std::int32_t k,
                                            std::vector<std::int64_t>& offsets) const {
  const std::span<const NodeId> nodes = step_.nodes;
  const auto address_of = [&](std::size_t j) { return gradient(NodeId{index_of(nodes[j]) + k}); };
  if (view_->is_many())
    return many_rows_at<T>(
        nodes.size(), width, memory_, [&](std::size_t j) { return graph_.rows(nodes[j]); }, address_of, offsets);
  return rows_at<T>(
      view_->in().rows, width, memory_, [&](std::int64_t r) { return address_of(static_cast<std::size_t>(r)); },
      offsets);
}

/// Of a cell: the gradients of all its results, and where it leaves those of its weights.
void BoundGradients::open_results(Saved& saved) {
  const OpInfo& info = *graph_.signature(step_.nodes[0]).info;
  lists_.result_gradients.clear();
  while (lists_.result_offsets.size() < static_cast<std::size_t>(info.results)) lists_.result_offsets.emplace_back();
  for (std::int32_t k = 0; k < info.results; ++k)
    lists_.result_gradients.push_back(
        rows_of_result<float>(view_->results()[at(k)].width, k, lists_.result_offsets[at(k)]));
  saved.result_gradients = lists_.result_gradients;
  saved.unwritten = step_.unwritten;
  if (info.deferred == 0) return;
  auto* data = reinterpret_cast<float*>(step_.run->gradients + step_.layout->deferred_at[at(step_.number)]);
  saved.deferred = rows_at<float>(
      view_->in().rows, info.deferred, memory_, [&](std::int64_t r) { return data + view_->number(r) * info.deferred; },
      lists_.deferred_offsets);
}

void BoundGradients::open_operands() {
  const StepIn& in = view_->in();
  for (const ConstRows& rows : in.inputs)
    if (!rows.shared()) lists_.unread.resize(std::max(lists_.unread.size(), static_cast<std::size_t>(rows.width) + 1));
  lists_.grads.assign(in.offsets != nullptr ? 1 : in.size(), {});
  any_ = false;
  any_unread_ = false;
  ledger_.next_step();
  if (in.offsets != nullptr)
    open_ragged();
  else
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!view_->is_shared(i)) open_operand(i);
}

BoundGradients::Opened& BoundGradients::start_operand(std::size_t i) {
  while (lists_.opened.size() <= i) lists_.opened.emplace_back();
  Opened& into = lists_.opened[i];
  into.clean.clear();
  into.all_clean = true;
  into.all_wanted = true;
  lists_.targets.clear();
  lists_.target_rows.clear();
  return into;
}

void BoundGradients::open_ragged() {
  Opened& into = start_operand(0);
  for (NodeId node : step_.nodes)
    for (NodeId input : graph_.inputs(node)) {
      lists_.targets.push_back(claim(table_.same[at(input)], into));
      if (graph_.any_many()) lists_.target_rows.push_back(graph_.rows(input));
    }
  open_rows_of(0, view_->in()[0].width);
}

void BoundGradients::open_operand(std::size_t i) {
  const std::size_t nodes = step_.nodes.size();
  for (std::size_t j = 0; j < nodes; ++j) ledger_.fetch(view_->operand(static_cast<std::int64_t>(j), i));
  if (const plan::Block* there = block(i)) {
    open_block(i, *there);
    return;
  }
  Opened& into = start_operand(i);
  const std::int64_t width = view_->in()[i].width;
  for (std::size_t j = 0; j < nodes; ++j) {
    float* const first = claim(view_->operand(static_cast<std::int64_t>(j), i), into);
    lists_.targets.push_back(first == nullptr ? nullptr : first + view_->row_read(j) * width);
    if (view_->is_many()) lists_.target_rows.push_back(view_->rows_read(j, i));
  }
  if (view_->reads_one_of_many()) into.all_clean = false;  // the others' gradients are to be zero
  open_rows_of(i, width);
}

/// Rows that were written into the block have their gradients there. The others' are made there, and passed on.
void BoundGradients::open_block(std::size_t i, const plan::Block& block) {
  Opened& into = start_operand(i);
  auto* data = reinterpret_cast<float*>(step_.run->gradients + step_.layout->at[at(block.piece)] + block.before);
  const std::int64_t next = block.row_bytes / static_cast<std::int64_t>(sizeof(float));
  const auto row_at = [&](std::int64_t r) { return data + view_->number(r) * next; };
  bool any_row = false;
  for (std::int64_t r = 0; r < view_->in().rows; ++r) {
    const NodeId node = view_->operand(r, i);
    if (!request_.gets_gradient(node)) {
      into.all_wanted = false;
      continue;
    }
    any_row = true;
    places_.ensure_open(node);
    if (gradient(node) == row_at(r)) claim_open(node, into);
  }
  any_ |= any_row;
  if (!any_row) return;
  lists_.grads[i] =
      GradRows(rows_at<float>(view_->in().rows, view_->in()[i].width, memory_, row_at, into.offsets), /*store=*/true);
}

/// The place of the gradient of a row, claimed; null where nobody wants one.
float* BoundGradients::claim(NodeId node, Opened& into) {
  if (!request_.gets_gradient(node)) {
    any_unread_ = true;
    into.all_clean = false;
    return nullptr;
  }
  any_ = true;
  places_.ensure_open(node);
  claim_open(node, into);
  return gradient(node);
}

void BoundGradients::claim_open(NodeId node, Opened& into) {
  if (ledger_.claim(node))
    into.clean.push_back(node);
  else
    into.all_clean = false;
}

/// The gradients of operand i, whose nodes were claimed: null where nobody wants one.
void BoundGradients::open_rows_of(std::size_t i, std::int64_t width) {
  std::vector<std::int64_t>& offsets = lists_.opened[i].offsets;
  const auto is_null = [](const float* first) { return first == nullptr; };
  const auto nulls = std::count_if(lists_.targets.begin(), lists_.targets.end(), is_null);
  if (nulls == std::ssize(lists_.targets)) return;
  if (nulls > 0) list_each_row(width);
  const auto first_of = [&](std::size_t j) { return lists_.targets[j]; };
  const Rows rows = lists_.target_rows.empty()
                        ? rows_at<float>(
                              std::ssize(lists_.targets), width, memory_,
                              [&](std::int64_t r) { return first_of(static_cast<std::size_t>(r)); }, offsets)
                        : many_rows_at<float>(
                              lists_.targets.size(), width, memory_,
                              [&](std::size_t j) { return lists_.target_rows[j]; }, first_of, offsets);
  lists_.grads[i] = GradRows(rows, /*store=*/true);
}

/// Rows that nobody wants are one row that nobody reads.
void BoundGradients::list_each_row(std::int64_t width) {
  if (lists_.target_rows.empty()) lists_.target_rows.assign(lists_.targets.size(), 1);
  const std::vector<float*> firsts = lists_.targets;
  lists_.targets.clear();
  for (std::size_t j = 0; j < firsts.size(); ++j)
    for (std::int64_t r = 0; r < lists_.target_rows[j]; ++r)
      lists_.targets.push_back(firsts[j] == nullptr ? lists_.unread.data() : firsts[j] + r * width);
  lists_.target_rows.clear();
}

/// Rows of an operand are stored if nothing is there, and else added, to zeros where nothing is there.
void BoundGradients::settle() {
  for (std::size_t i = 0; i < lists_.grads.size(); ++i) {
    if (!lists_.grads[i]) continue;
    const Opened& into = lists_.opened[i];
    if (into.all_clean && !ledger_.repeated()) continue;
    if (block(i) != nullptr) zero_copied_rows(i);
    for (NodeId node : into.clean) ledger_.zero(node);
    lists_.grads[i] = GradRows(lists_.grads[i].rows(), /*store=*/false);
  }
}

/// Calls f(r) at least for the rows of block i whose gradients are elsewhere: those that were copied there, those that
/// get none, and those that an earlier run has computed before.
template <class F>
void BoundGradients::for_each_strange_row(std::size_t i, const F& f) const {
  if (step_.is_whole && lists_.opened[i].all_wanted) {
    for (std::int32_t r : step_.run->plan->copies_of(*block(i))) f(r);
  } else {
    for (std::int64_t r = 0; r < view_->in().rows; ++r) f(r);
  }
}

bool BoundGradients::is_in_block(std::size_t i, std::int64_t r, NodeId node) const {
  return request_.gets_gradient(node) && gradient(node) == lists_.grads[i].rows()[r];
}

void BoundGradients::zero_copied_rows(std::size_t i) {
  for_each_strange_row(i, [&](std::int64_t r) {
    if (!is_in_block(i, r, view_->operand(r, i))) std::fill_n(lists_.grads[i].rows()[r], lists_.grads[i].width(), 0.0F);
  });
}

void BoundGradients::add_copied_rows() {
  for (std::size_t i = 0; i < lists_.grads.size(); ++i) {
    if (!lists_.grads[i] || block(i) == nullptr) continue;
    for_each_strange_row(i, [&](std::int64_t r) {
      const NodeId node = view_->operand(r, i);
      if (request_.gets_gradient(node) && !is_in_block(i, r, node))
        places_.add_row(node, reinterpret_cast<const std::byte*>(lists_.grads[i].rows()[r]));
    });
  }
}

}  // namespace espalier::exec
