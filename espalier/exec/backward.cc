#include "espalier/exec/backward.h"

#include <algorithm>
#include <cstring>

#include "espalier/base/threads.h"
#include "espalier/exec/backward_group.h"
#include "espalier/exec/backward_lists.h"
#include "espalier/exec/leaf_gradients.h"
#include "espalier/exec/ledger.h"
#include "espalier/exec/node_call.h"
#include "espalier/exec/shared_gradients.h"
#include "espalier/exec/step_pieces.h"
#include "espalier/exec/stopwatch.h"
#include "espalier/kernels/rows.h"
#include "espalier/ops/plain_step.h"
#include "espalier/ops/product_rows.h"

namespace espalier::exec {
namespace {

/// Gradients may use memory again only where nothing is read at the end, and nothing written before the first step.
bool uses_memory_again(std::span<const Run> runs, const Wishes& wishes) {
  return runs.size() == 1 && !wishes.any_wanted();
}

class Backward {
 public:
  Backward(const Graph& graph, const NodeTable& table, std::span<Run> runs, const Wishes& wishes, StepViews& views,
           Statistics& statistics, const PlannedMemory& gradient_memory, Ledger& ledger)
      : graph_(graph),
        table_(table),
        runs_(runs),
        wishes_(wishes),
        views_(views),
        statistics_(statistics),
        gradient_memory_(gradient_memory),
        ledger_(ledger),
        leaves_(graph, table, wishes, ledger, lists_),
        shared_(graph, table, wishes, ledger, leaves_, lists_, statistics),
        waiting_(graph, statistics) {
    ledger_.start(waiting_);
  }

  std::vector<Tensor> run(std::span<const Seed> seeds) {
    open_rows();
    for (const Seed& seed : seeds) add_seed(seed);
    for (std::size_t r = runs_.size(); r-- > 0;) {
      run_ = static_cast<std::int32_t>(r);
      for (std::int32_t step = runs_[r].plan->steps() - 1; step >= 0; --step) run_step(step);
    }
    waiting_.run();
    leaves_.end_steps();
    shared_.run_all();
    leaves_.finish();
    return leaves_.wanted();
  }

 private:
  const Run& current() const { return runs_[static_cast<std::size_t>(run_)]; }
  bool is_only_run() const { return runs_.size() == 1; }
  std::int64_t bytes(NodeId node) const { return graph_.bytes(node); }
  const plan::Layout& layout(const Run& run) const {
    return uses_memory_again(runs_, wishes_) ? run.plan->gradients : run.plan->all_gradients;
  }
  /// Where the gradients of a block's rows are.
  std::byte* block_gradients(const plan::Block& block) const {
    return current().gradients + layout(current()).at[static_cast<std::size_t>(block.piece)] + block.before;
  }

  void open_rows() {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const Run& run = runs_[r];
      const plan::Layout& places = layout(run);
      for (std::size_t i = 0; i < run.nodes.size(); ++i) {
        const NodeId node = run.nodes[i];
        if (table_.run[at(node)] != static_cast<std::int32_t>(r) || table_.base[at(node)] != node) continue;
        ledger_.open(node,
                     run.gradients + places.at[static_cast<std::size_t>(run.plan->piece[i])] + run.plan->within[i]);
      }
      run.for_each_further(graph_, run.gradients, places, [&](NodeId result, std::byte* where) {
        if (table_.run[at(result)] == static_cast<std::int32_t>(r)) ledger_.open(result, where);
      });
    }
  }

  float* gradient(NodeId node) const { return reinterpret_cast<float*>(ledger_.where(node)); }

  void add_seed(const Seed& seed) {
    const NodeId node = table_.same[at(seed.node)];
    if (!wishes_.gets_gradient(node)) return;
    leaves_.ensure_open(node);
    ledger_.next_step();
    if (ledger_.claim(node)) ledger_.zero(node);
    const std::int64_t n = graph_.elements(node);
    if (graph_.type(node).dtype == DType::kFloat32)
      for (std::int64_t i = 0; i < n; ++i) gradient(node)[i] += static_cast<float>(seed.factor);
    else
      for (std::int64_t i = 0; i < n; ++i) reinterpret_cast<double*>(ledger_.where(node))[i] += seed.factor;
  }

  /// The rows of a step that get a gradient are differentiated.
  void run_step(std::int32_t step) {
    const std::span<const NodeId> all = current().rows_of(step);
    const Signature& signature = graph_.signature(all[0]);
    if (signature.info->kind == Kind::kResult) return;  // the step before differentiates it
    take_part(all);
    if (nodes_.empty()) return;
    may_wait_ = may_wait(step, signature);
    if (!may_wait_) waiting_.run();
    if (graph_.any_derived())
      for (NodeId node : nodes_)
        if (graph_.shared(node)) shared_.run_users_of(node);
    for (NodeId node : nodes_) ledger_.fetch(node);
    ledger_.next_step();
    unwritten_ = 0;
    for (std::int32_t k = 0; k < signature.info->results; ++k) complete_results(k, signature.info->opens_results);

    if (gives_table_rows(signature)) {
      add_table_rows(*signature.info);
    } else if (signature.side_by_side && !table_.is_apart(nodes_[0])) {
      add_copied_parts();
    } else if (graph_.type(nodes_[0]).dtype == DType::kFloat64) {
      for (NodeId node : nodes_)
        for (std::int64_t row = 0; row < graph_.rows(node); ++row) differentiate_plain_code(node, row);
    } else {
      view_ = &views_.backward(current(), step, nodes_, lists_.numbers);
      differentiate_kernel(step, *signature.info);
    }
  }

  /// Whether the step at hand, all of it, may wait for others with the same rows.
  bool may_wait(std::int32_t step, const Signature& signature) const {
    const auto rows = std::ssize(nodes_);
    if (!has_pieces(graph_, rows) || !is_only_run() || !lists_.numbers.empty()) return false;
    if (waiting_.empty() && !is_worth_dividing(graph_, nodes_[0], rows, /*uses_memory_again=*/false)) return false;
    if (!runs_by_rows(graph_, nodes_[0]) || graph_.any_derived() || !views_.keeps(current())) return false;
    if (gives_table_rows(signature) || (signature.side_by_side && !table_.is_apart(nodes_[0]))) return false;
    const std::span<const plan::Block> blocks = current().plan->blocks_of(step);
    return std::none_of(blocks.begin(), blocks.end(),
                        [](const plan::Block& block) { return block.copy_end > block.copy_begin; });
  }

  /// The gradients of result k of the step's nodes are about to be read. Where nobody wrote any of them, an op may open
  /// them itself.
  void complete_results(std::int32_t k, bool op_may_open) {
    const auto result = [k](NodeId node) { return NodeId{index_of(node) + k}; };
    const auto is_unwritten = [&](NodeId node) { return !ledger_.is_written(result(node)); };
    if (op_may_open && std::all_of(nodes_.begin(), nodes_.end(), is_unwritten)) {
      unwritten_ |= 1U << static_cast<std::uint32_t>(k);
      for (NodeId node : nodes_) ledger_.claim(result(node));
      return;
    }
    for (NodeId node : nodes_) ledger_.complete(result(node));
  }

  /// Finds the rows of a step that get a gradient, and have it from this run: nearly always all of them.
  void take_part(std::span<const NodeId> all) {
    const auto takes_part = [&](NodeId node) {
      return wishes_.gets_gradient(node) && (is_only_run() || table_.run[at(node)] == run_);
    };
    nodes_ = all;
    lists_.numbers.clear();
    if (std::all_of(all.begin(), all.end(), takes_part)) return;
    lists_.some_nodes.clear();
    std::int32_t row = 0;
    for (NodeId node : all) {
      const std::int32_t end = row + graph_.rows(node);
      if (takes_part(node)) {
        lists_.some_nodes.push_back(node);
        for (std::int32_t r = row; r < end; ++r) lists_.numbers.push_back(r);
      }
      row = end;
    }
    nodes_ = lists_.some_nodes;
  }

  // --- ops that need no kernel ---------------------------------------------------------------------------------------

  /// A lookup in a table of which single rows learn.
  bool gives_table_rows(const Signature& signature) const {
    if (signature.info->table_row == nullptr) return false;
    const NodeId table = graph_.inputs(nodes_[0])[0];
    const Parameter* parameter = graph_.parameter_of(table);
    return parameter != nullptr && graph_.shared(table) && !wishes_.is_wanted(table) && !parameter->frozen;
  }
  void add_table_rows(const OpInfo& info) {
    const NodeId table_node = graph_.inputs(nodes_[0])[0];
    const Parameter& table = *graph_.parameter_of(table_node);
    lists_.rows.clear();
    lists_.row_values.clear();
    const std::int64_t row_bytes = bytes(nodes_[0]) / graph_.rows(nodes_[0]);
    for (NodeId node : nodes_)
      for (std::int64_t row = 0; row < graph_.rows(node); ++row) {
        lists_.rows.push_back(info.table_row(graph_.fields(node, row)));
        lists_.row_values.push_back(ledger_.where(node) + row * row_bytes);
      }
    float* const values = leaves_.table_to_change(table_node, table);
    if (values == nullptr) {
      leaves_.gradients_of(table).add_rows(table, lists_.rows, lists_.row_values);
      return;
    }
    const auto width = static_cast<std::size_t>(graph_.type(nodes_[0]).elements);
    for (std::size_t r = 0; r < lists_.rows.size(); ++r)
      kernels::add({reinterpret_cast<const float*>(lists_.row_values[r]), width},
                   {values + static_cast<std::size_t>(lists_.rows[r]) * width, width});
  }

  /// Parts that were written in place have their gradient in place too.
  void add_copied_parts() {
    for (NodeId node : nodes_) {
      std::byte* from = ledger_.where(node);
      for (NodeId input : graph_.inputs(node)) {
        const NodeId part = table_.same[at(input)];
        if (wishes_.gets_gradient(part)) {
          leaves_.ensure_open(part);
          if (ledger_.where(part) != from) add_row(part, from);
        }
        from += bytes(part);
      }
    }
  }

  /// Adds a row to the gradient of a node, or stores it there first.
  void add_row(NodeId to, const std::byte* row) {
    ledger_.next_step();
    const auto n = static_cast<std::size_t>(graph_.elements(to));
    std::byte* where = ledger_.where(to);
    if (ledger_.claim(to)) {
      if (n > 0) std::memcpy(where, row, static_cast<std::size_t>(bytes(to)));
    } else if (graph_.type(to).dtype == DType::kFloat32) {
      kernels::add({reinterpret_cast<const float*>(row), n}, {reinterpret_cast<float*>(where), n});
    } else {
      for (std::size_t i = 0; i < n; ++i)
        reinterpret_cast<double*>(where)[i] += reinterpret_cast<const double*>(row)[i];
    }
  }

  void differentiate_plain_code(NodeId node, std::int64_t row) {
    std::vector<std::span<double>> gradients;
    ledger_.next_step();
    NodeCall call(graph_, node, row);
    for (const NodeCall::Argument& argument : call.arguments()) {
      const NodeId source = table_.same[at(argument.node)];
      gradients.emplace_back();
      if (!wishes_.gets_gradient(source)) continue;
      leaves_.ensure_open(source);
      if (ledger_.claim(source)) ledger_.zero(source);
      gradients.back() = {reinterpret_cast<double*>(ledger_.where(source)) + argument.begin, argument.size};
    }
    const std::int64_t elements = graph_.type(node).elements;
    ops::plain_gradient<double>(
        graph_.signature(node).info->plain_var, graph_.attrs(node), graph_.fields(node, row),
        call.plain<double>(table_.address),
        {reinterpret_cast<const double*>(ledger_.where(node)) + row * elements, static_cast<std::size_t>(elements)},
        gradients);
  }

  // --- kernels -------------------------------------------------------------------------------------------------------

  void differentiate_kernel(std::int32_t step, const OpInfo& info) {
    KernelWatch watch(graph_.options().profile);
    const StepIn& in = view_->in();
    Saved saved;
    saved.in = in;
    saved.in.use.training = true;
    saved.y = view_->y();
    saved.saved = view_->saved();
    saved.results = view_->results();
    saved.dy = gradient_rows<const float>(view_->y().width, 0, lists_.dy_offsets);
    if (info.kind == Kind::kCell) open_cell(step, info, saved);
    if (info.takes_whole && info.kind == Kind::kCell && !lists_.numbers.empty()) compute_again(info, saved);
    for (const ConstRows& rows : in.inputs)
      if (!rows.shared())
        lists_.unread.resize(std::max(lists_.unread.size(), static_cast<std::size_t>(rows.width) + 1));
    lists_.grads.assign(in.offsets != nullptr ? 1 : in.size(), {});
    any_ = false;
    unread_rows_ = false;
    ledger_.next_step();
    if (in.offsets != nullptr)
      open_ragged();
    else
      for (std::size_t i = 0; i < in.size(); ++i)
        if (!view_->is_shared(i)) open_operand(i);
    settle();
    // Even where none of its inputs wants a gradient, a cell leaves what its weights need, and adds to the gradients of
    // results that are used within it.
    const bool reads_results = info.results > 1 && (info.weights_read_dy || table_.is_apart(nodes_[0]));
    if (any_ || info.deferred > 0 || info.overwrites_saved || reads_results) {
      if (may_wait_ && may_run_by_pieces()) {
        if (!waiting_.may_join(saved, lists_)) waiting_.run();
        waiting_.add(info, graph_.attrs(nodes_[0]), saved, lists_);
      } else {
        waiting_.run();
        call(info, saved);
      }
      runs_[static_cast<std::size_t>(run_)].is_spent |= info.overwrites_saved;
    }
    for (std::size_t i = 0; i < lists_.grads.size(); ++i)
      if (in.offsets == nullptr && view_->block(i) != nullptr && lists_.grads[i]) add_copied_rows(i);
    if (view_->any_shared()) shared_.add(*view_, saved);
    watch.stop(info.kind == Kind::kProduct, statistics_.seconds);
  }

  /// The gradients of result k of the step's nodes.
  template <class T>
  BasicRows<T> gradient_rows(std::int64_t width, std::int32_t k, std::vector<std::int64_t>& offsets) const {
    const auto address_of = [&](std::size_t j) { return gradient(NodeId{index_of(nodes_[j]) + k}); };
    if (view_->is_many())
      return many_rows_at<T>(
          nodes_.size(), width, gradient_memory_, [&](std::size_t j) { return graph_.rows(nodes_[j]); }, address_of,
          offsets);
    return rows_at<T>(
        view_->in().rows, width, gradient_memory_,
        [&](std::int64_t r) { return address_of(static_cast<std::size_t>(r)); }, offsets);
  }

  void open_cell(std::int32_t step, const OpInfo& info, Saved& saved) {
    lists_.result_gradients.clear();
    while (lists_.result_offsets.size() < static_cast<std::size_t>(info.results)) lists_.result_offsets.emplace_back();
    for (std::int32_t k = 0; k < info.results; ++k)
      lists_.result_gradients.push_back(gradient_rows<float>(saved.results[static_cast<std::size_t>(k)].width, k,
                                                             lists_.result_offsets[static_cast<std::size_t>(k)]));
    saved.result_gradients = lists_.result_gradients;
    saved.unwritten = unwritten_;
    if (info.deferred == 0) return;
    auto* data =
        reinterpret_cast<float*>(current().gradients + layout(current()).deferred_at[static_cast<std::size_t>(step)]);
    saved.deferred = rows_at<float>(
        saved.in.rows, info.deferred, gradient_memory_,
        [&](std::int64_t r) { return data + view_->number(r) * info.deferred; }, lists_.deferred_offsets);
  }

  /// What an op that takes its operands whole left for its backward lies as the whole step was. Where some of its nodes
  /// go back alone, they are computed once more, by themselves.
  void compute_again(const OpInfo& info, Saved& saved) {
    const auto rows_of = [&](std::int64_t width) {
      const std::int64_t floats = saved.in.rows * width;
      auto* data = reinterpret_cast<float*>(leaves_.allocate(floats * static_cast<std::int64_t>(sizeof(float))));
      return Rows{data, saved.in.rows, width, width, nullptr};
    };
    const std::int64_t left = graph_.signature(nodes_[0]).saved;
    const Rows of_forward = left > 0 ? rows_of(left) : Rows();
    lists_.again.clear();
    for (const Rows& result : saved.results) lists_.again.push_back(rows_of(result.width));
    info.forward(graph_.attrs(nodes_[0]), saved.in,
                 {.y = lists_.again[0], .saved = of_forward, .results = lists_.again});
    saved.y = lists_.again[0];
    saved.saved = of_forward;
    saved.results = lists_.again;
    if (info.deferred > 0) saved.deferred = rows_of(info.deferred);
  }

  Opened& opened(std::size_t i) {
    while (lists_.opened.size() <= i) lists_.opened.emplace_back();
    return lists_.opened[i];
  }

  /// The place of the gradient of a row, claimed; or memory that nobody reads.
  float* claim(NodeId node, Opened& into) {
    if (!wishes_.gets_gradient(node)) {
      unread_rows_ = true;
      into.all_clean = false;
      return nullptr;
    }
    any_ = true;
    leaves_.ensure_open(node);
    claim_open(node, into);
    return gradient(node);
  }
  void claim_open(NodeId node, Opened& into) {
    if (ledger_.claim(node))
      into.clean.push_back(node);
    else
      into.all_clean = false;
  }

  /// The gradients of operand i, whose nodes were claimed: null where nobody wants one.
  void open_rows_of(std::size_t i, std::int64_t width) {
    Opened& into = opened(i);
    const auto is_null = [](const float* first) { return first == nullptr; };
    const auto nulls = std::count_if(lists_.targets.begin(), lists_.targets.end(), is_null);
    if (nulls == std::ssize(lists_.targets)) return;
    if (nulls > 0) list_each_row(width);
    const auto first_of = [&](std::size_t j) { return lists_.targets[j]; };
    const Rows rows = lists_.target_rows.empty()
                          ? rows_at<float>(
                                std::ssize(lists_.targets), width, gradient_memory_,
                                [&](std::int64_t r) { return first_of(static_cast<std::size_t>(r)); }, into.offsets)
                          : many_rows_at<float>(
                                lists_.targets.size(), width, gradient_memory_,
                                [&](std::size_t j) { return lists_.target_rows[j]; }, first_of, into.offsets);
    lists_.grads[i] = GradRows(rows, /*store=*/true);
  }
  /// Rows that nobody wants are one row that nobody reads.
  void list_each_row(std::int64_t width) {
    if (lists_.target_rows.empty()) lists_.target_rows.assign(lists_.targets.size(), 1);
    const std::vector<float*> firsts = lists_.targets;
    lists_.targets.clear();
    for (std::size_t j = 0; j < firsts.size(); ++j)
      for (std::int64_t r = 0; r < lists_.target_rows[j]; ++r)
        lists_.targets.push_back(firsts[j] == nullptr ? lists_.unread.data() : firsts[j] + r * width);
    lists_.target_rows.clear();
  }

  /// A node of one row, or of many, of which the first is there.
  void push_rows(float* first, std::int64_t rows, bool is_many) {
    lists_.targets.push_back(first);
    if (is_many) lists_.target_rows.push_back(rows);
  }
  void reset(Opened& into) {
    into.clean.clear();
    into.all_clean = true;
    into.all_wanted = true;
    lists_.targets.clear();
    lists_.target_rows.clear();
  }

  void open_ragged() {
    Opened& into = opened(0);
    reset(into);
    const std::int64_t width = view_->in()[0].width;
    for (NodeId node : nodes_)
      for (NodeId input : graph_.inputs(node))
        push_rows(claim(table_.same[at(input)], into), graph_.rows(input), graph_.any_many());
    open_rows_of(0, width);
  }

  void open_operand(std::size_t i) {
    Opened& into = opened(i);
    reset(into);
    for (std::size_t j = 0; j < nodes_.size(); ++j) ledger_.fetch(view_->operand(static_cast<std::int64_t>(j), i));
    if (const plan::Block* block = view_->block(i)) {
      open_block(i, *block, into);
    } else {
      const std::int64_t width = view_->in()[i].width;
      for (std::size_t j = 0; j < nodes_.size(); ++j) {
        float* const first = claim(view_->operand(static_cast<std::int64_t>(j), i), into);
        push_rows(first == nullptr ? nullptr : first + view_->row_read(j) * width,
                  view_->is_many() ? view_->rows_read(j, i) : 1, view_->is_many());
      }
      if (view_->reads_one_of_many()) into.all_clean = false;  // the others' gradients are to be zero
      open_rows_of(i, width);
    }
  }

  /// Rows that were written into the block have their gradients there. The others' are made there, and passed on.
  void open_block(std::size_t i, const plan::Block& block, Opened& into) {
    const std::int64_t width = view_->in()[i].width;
    auto* data = reinterpret_cast<float*>(block_gradients(block));
    const std::int64_t next = block.row_bytes / static_cast<std::int64_t>(sizeof(float));
    const auto row_at = [&](std::int64_t r) { return data + view_->number(r) * next; };
    bool any_row = false;
    for (std::int64_t r = 0; r < view_->in().rows; ++r) {
      const NodeId node = view_->operand(r, i);
      if (!wishes_.gets_gradient(node)) {
        into.all_wanted = false;
        continue;
      }
      any_row = true;
      leaves_.ensure_open(node);
      if (gradient(node) == row_at(r)) claim_open(node, into);
    }
    any_ |= any_row;
    if (!any_row) return;
    lists_.grads[i] = GradRows(rows_at<float>(view_->in().rows, width, gradient_memory_, row_at, into.offsets),
                               /*store=*/true);
  }

  /// Rows of an operand are stored if nothing is there, and else added, to zeros where nothing is there.
  void settle() {
    for (std::size_t i = 0; i < lists_.grads.size(); ++i) {
      if (!lists_.grads[i]) continue;
      Opened& into = opened(i);
      if (into.all_clean && !ledger_.repeated()) continue;
      if (view_->in().offsets == nullptr && view_->block(i) != nullptr) zero_copied_rows(i);
      for (NodeId node : into.clean) ledger_.zero(node);
      lists_.grads[i] = GradRows(lists_.grads[i].rows(), /*store=*/false);
    }
  }

  /// Calls f(r) at least for the rows of block i whose gradients are elsewhere: those that were copied there, those
  /// that get none, and those that an earlier run has computed before.
  template <class F>
  void for_each_strange_row(std::size_t i, const F& f) {
    const std::span<const std::int32_t> copies = current().plan->copies_of(*view_->block(i));
    if (is_only_run() && lists_.numbers.empty() && opened(i).all_wanted) {
      for (std::int32_t r : copies) f(r);
    } else {
      for (std::int64_t r = 0; r < view_->in().rows; ++r) f(r);
    }
  }
  bool is_in_block(std::size_t i, std::int64_t r, NodeId node) const {
    return wishes_.gets_gradient(node) && gradient(node) == lists_.grads[i].rows()[r];
  }
  void zero_copied_rows(std::size_t i) {
    waiting_.run();  // which may read what is there
    for_each_strange_row(i, [&](std::int64_t r) {
      if (!is_in_block(i, r, view_->operand(r, i)))
        std::fill_n(lists_.grads[i].rows()[r], lists_.grads[i].width(), 0.0F);
    });
  }
  void add_copied_rows(std::size_t i) {
    for_each_strange_row(i, [&](std::int64_t r) {
      const NodeId node = view_->operand(r, i);
      if (wishes_.gets_gradient(node) && !is_in_block(i, r, node))
        add_row(node, reinterpret_cast<const std::byte*>(lists_.grads[i].rows()[r]));
    });
  }

  /// Rows that share memory are not for two threads.
  bool any_share_memory() const { return ledger_.overlapping() || unread_rows_; }
  bool may_run_by_pieces() {
    bool all_wanted = true;
    for (std::size_t i = 0; i < lists_.grads.size(); ++i) all_wanted &= !lists_.grads[i] || opened(i).all_wanted;
    return all_wanted && !any_share_memory();
  }
  void call(const OpInfo& info, const Saved& saved) {
    const void* attrs = graph_.attrs(nodes_[0]);
    const std::int64_t rows = saved.in.rows;
    const bool alone = any_share_memory();
    const bool splits_itself = info.kind == Kind::kCell || (info.kind == Kind::kProduct && view_->any_shared());
    if (rows == 1 || alone || splits_itself || info.takes_whole || info.row_an_operand) {
      const OneThread one(alone);
      Grads grads(lists_.grads);
      info.backward(attrs, saved, grads);
      return;
    }
    parallel_for(rows, row_grain(saved.in, saved.dy.width),
                 [&](std::int64_t begin, std::int64_t end) { run_rows(info, attrs, saved, lists_.grads, begin, end); });
  }

  const Graph& graph_;
  const NodeTable& table_;
  std::span<Run> runs_;
  const Wishes& wishes_;
  StepViews& views_;
  Statistics& statistics_;
  PlannedMemory gradient_memory_;
  Ledger& ledger_;
  BackwardLists& lists_ = BackwardLists::of_thread();
  LeafGradients leaves_;
  SharedGradients shared_;
  BackwardGroup waiting_;

  // Of the step at hand.
  const StepView* view_ = nullptr;
  std::int32_t run_ = 0;
  std::span<const NodeId> nodes_;
  std::uint32_t unwritten_ = 0;  // results of the step, as Saved has them
  bool any_ = false;
  bool unread_rows_ = false;
  bool may_wait_ = false;
};

}  // namespace

std::int64_t gradient_bytes(std::span<const Run> runs, const Wishes& wishes) {
  std::int64_t bytes = 0;
  for (const Run& run : runs)
    bytes += uses_memory_again(runs, wishes) ? run.plan->gradients.bytes : run.plan->all_gradients.bytes;
  return bytes;
}

std::vector<Tensor> run_backward(const Graph& graph, const NodeTable& table, std::span<Run> runs,
                                 std::span<const Seed> seeds, const Wishes& wishes, RunMemory& memory, StepViews& views,
                                 Ledger& ledger, Statistics& statistics) {
  // One buffer for all, so that a graph run bit by bit does not search through as many.
  std::byte* const buffer = memory.take(gradient_bytes(runs, wishes));
  statistics.peak_bytes = std::max(statistics.peak_bytes, memory.bytes_used());
  std::int64_t next = 0;
  for (Run& run : runs) {
    run.gradients = buffer + next;
    next += uses_memory_again(runs, wishes) ? run.plan->gradients.bytes : run.plan->all_gradients.bytes;
  }
  struct Return {
    RunMemory& memory;
    std::byte* buffer;
    ~Return() { memory.give(buffer); }
  } const at_the_end{memory, buffer};
  return Backward(graph, table, runs, wishes, views, statistics, {buffer, next}, ledger).run(seeds);
}

}  // namespace espalier::exec
