#include "espalier/exec/pass/backward.h"

#include <algorithm>
#include <cstring>

#include "espalier/base/threads.h"
#include "espalier/exec/bind/bound_gradients.h"
#include "espalier/exec/bind/gradient_places.h"
#include "espalier/exec/bind/ledger.h"
#include "espalier/exec/node_call.h"
#include "espalier/exec/pass/weight_gradients.h"
#include "espalier/exec/stopwatch.h"
#include "espalier/exec/traced.h"
#include "espalier/kernels/rows.h"
#include "espalier/ops/plain_step.h"
#include "espalier/ops/product_rows.h"

namespace espalier::exec {
namespace {

/// Calls the backward function of an op for rows begin to end - 1 of a step.
void differentiate_rows(const OpInfo& info, const void* attrs, const Saved& saved, std::span<const GradRows> grads,
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

class Backward {
 public:
  Backward(const Graph& graph, const NodeTable& table, std::span<Run> runs, const BackwardRequest& request,
           BoundSteps& steps, Statistics& statistics, const PlannedMemory& gradient_memory, Ledger& ledger)
      : graph_(graph),
        table_(table),
        runs_(runs),
        request_(request),
        steps_(steps),
        statistics_(statistics),
        ledger_(ledger),
        places_(graph, table, request, ledger),
        weights_(graph, table, request, ledger, places_, statistics),
        gradients_(graph, table, request, gradient_memory, ledger, places_) {
    ledger_.start();
  }

  /// Memory of the pass, beside that of gradients.
  std::int64_t memory() const { return ledger_.memory() + request_.memory() + weights_.memory() + places_.memory(); }

  std::vector<Tensor> run(std::span<const Seed> seeds) {
    open_rows();
    for (const Seed& seed : seeds) add_seed(seed);
    for (std::size_t r = runs_.size(); r-- > 0;) {
      run_ = static_cast<std::int32_t>(r);
      for (std::int32_t step = runs_[r].plan->steps() - 1; step >= 0; --step) run_step(step);
    }
    places_.end_steps();
    weights_.run_all();
    places_.finish();
    return places_.wanted();
  }

 private:
  /// What a thread keeps from one pass to the next.
  struct Lists {
    std::vector<NodeId> some_nodes;     // where not all rows of a step take part
    std::vector<std::int32_t> numbers;  // likewise, which
    std::vector<Rows> again;            // results that were computed once more
    std::vector<std::int32_t> rows;     // of a table
    std::vector<const std::byte*> row_values;

    static Lists& of_thread() {
      thread_local Lists lists;
      return lists;
    }
  };

  const Run& current() const { return runs_[static_cast<std::size_t>(run_)]; }
  bool is_only_run() const { return runs_.size() == 1; }
  std::int64_t bytes(NodeId node) const { return graph_.bytes(node); }
  const plan::Layout& layout(const Run& run) const {
    return gradient_layout(*run.plan, runs_.size(), request_.any_wanted());
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
      run.for_each_further(graph_, run.gradients, places, [&](NodeId result, std::byte* where, bool) {
        if (table_.run[at(result)] == static_cast<std::int32_t>(r)) ledger_.open(result, where);
      });
    }
  }

  float* gradient(NodeId node) const { return reinterpret_cast<float*>(ledger_.where(node)); }

  void add_seed(const Seed& seed) {
    const NodeId node = table_.same[at(seed.node)];
    if (!request_.gets_gradient(node)) return;
    places_.ensure_open(node);
    ledger_.next_step();
    if (ledger_.claim(node)) ledger_.zero(node);
    if (seed.gradient != nullptr)
      places_.add_row(node, seed.gradient->data());
    else if (graph_.type(node).dtype == DType::kFloat32)
      add_number(std::span(gradient(node), elements(node)), seed.factor);
    else
      add_number(std::span(reinterpret_cast<double*>(ledger_.where(node)), elements(node)), seed.factor);
  }
  std::size_t elements(NodeId node) const { return static_cast<std::size_t>(graph_.elements(node)); }
  template <class T>
  static void add_number(std::span<T> to, double number) {
    for (T& each : to) each += static_cast<T>(number);
  }

  /// The rows of a step that get a gradient are differentiated.
  void run_step(std::int32_t step) {
    const std::span<const NodeId> all = current().rows_of(step);
    const Signature& signature = graph_.signature(all[0]);
    take_part(all);
    if (nodes_.empty()) return;
    SpanTimer span(
        traced_,
        [&] { return span_of(graph_, Doing::kBackwardKernel, current().run_number, step, std::ssize(nodes_)); },
        signature.info->name);
    if (graph_.any_derived())
      for (NodeId node : nodes_)
        if (graph_.shared(node)) weights_.run_users_of(node);
    for (NodeId node : nodes_) ledger_.fetch(node);
    ledger_.next_step();
    unwritten_ = 0;
    for (std::int32_t k = 0; k < signature.info->results; ++k) complete_results(k, signature.info->opens_results);

    if (gives_table_rows(signature)) {
      add_table_rows(*signature.info);
    } else if (lies_side_by_side(graph_, table_, nodes_[0])) {
      add_copied_parts();
    } else if (graph_.type(nodes_[0]).dtype == DType::kFloat64) {
      for (NodeId node : nodes_)
        for (std::int64_t row = 0; row < graph_.rows(node); ++row) differentiate_plain_code(node, row);
    } else {
      differentiate_kernel(step, *signature.info);
    }
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
      return request_.gets_gradient(node) && (is_only_run() || table_.run[at(node)] == run_);
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
    return parameter != nullptr && graph_.shared(table) && !request_.is_wanted(table) && !parameter->frozen;
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
    float* const values = places_.table_to_change(table_node, table);
    if (values == nullptr) {
      places_.gradients_of(table).add_rows(table, lists_.rows, lists_.row_values);
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
        if (request_.gets_gradient(part)) {
          places_.ensure_open(part);
          if (ledger_.where(part) != from) places_.add_row(part, from);
        }
        from += bytes(part);
      }
    }
  }

  void differentiate_plain_code(NodeId node, std::int64_t row) {
    std::vector<std::span<double>> gradients;
    ledger_.next_step();
    NodeCall call(graph_, node, row);
    for (const NodeCall::Argument& argument : call.arguments()) {
      const NodeId source = table_.same[at(argument.node)];
      gradients.emplace_back();
      if (!request_.gets_gradient(source)) continue;
      places_.ensure_open(source);
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
    view_ = &steps_.backward(current(), step, nodes_, lists_.numbers);
    Saved saved;
    saved.in = view_->in();
    saved.in.use.training = true;
    saved.y = view_->y();
    saved.saved = view_->saved();
    saved.results = view_->results();
    const bool is_whole = is_only_run() && lists_.numbers.empty();
    gradients_.open(*view_, {&current(), &layout(current()), step, nodes_, is_whole, unwritten_}, saved);
    if (info.takes_whole && info.kind == Kind::kCell && !lists_.numbers.empty()) compute_again(info, saved);
    // Even where none of its inputs wants a gradient, a cell leaves what its weights need, and adds to the gradients of
    // results that are used within it.
    const bool reads_results = info.results > 1 && (info.weights_read_dy || table_.is_apart(nodes_[0]));
    if (gradients_.any() || info.deferred > 0 || info.overwrites_saved || reads_results) {
      runs_[static_cast<std::size_t>(run_)].is_spent |= info.overwrites_saved;  // even if the call throws
      call(info, saved);
    }
    gradients_.add_copied_rows();
    if (view_->any_shared()) weights_.add(*view_, saved);
    watch.stop(info.kind == Kind::kProduct, statistics_.seconds);
  }

  /// What an op that takes its operands whole left for its backward lies as the whole step was. Where some of its nodes
  /// go back alone, they are computed once more, by themselves.
  void compute_again(const OpInfo& info, Saved& saved) {
    const auto rows_of = [&](std::int64_t width) {
      const std::int64_t floats = saved.in.rows * width;
      auto* data = reinterpret_cast<float*>(places_.allocate(floats * static_cast<std::int64_t>(sizeof(float))));
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

  void call(const OpInfo& info, const Saved& saved) {
    const void* attrs = graph_.attrs(nodes_[0]);
    const std::int64_t rows = saved.in.rows;
    const bool alone = gradients_.any_share_memory();
    const bool splits_itself = info.kind == Kind::kCell || (info.kind == Kind::kProduct && view_->any_shared());
    if (rows == 1 || alone || splits_itself || info.takes_whole || info.row_an_operand) {
      const OneThread one(alone);
      Grads grads(gradients_.operands());
      info.backward(attrs, saved, grads);
      return;
    }
    parallel_for(rows, row_grain(saved.in, saved.dy.width), [&](std::int64_t begin, std::int64_t end) {
      differentiate_rows(info, attrs, saved, gradients_.operands(), begin, end);
    });
  }

  const Graph& graph_;
  const NodeTable& table_;
  std::span<Run> runs_;
  const BackwardRequest& request_;
  BoundSteps& steps_;
  Statistics& statistics_;
  Ledger& ledger_;
  GradientPlaces places_;
  WeightGradients weights_;
  BoundGradients gradients_;
  Lists& lists_ = Lists::of_thread();

  // Of the current step.
  const BoundStep* view_ = nullptr;
  std::int32_t run_ = 0;
  const bool traced_ = Trace::is_on();
  std::span<const NodeId> nodes_;
  std::uint32_t unwritten_ = 0;  // results of the step, as Saved has them
};

}  // namespace

std::vector<Tensor> run_backward(const Graph& graph, const NodeTable& table, std::span<Run> runs,
                                 std::span<const Seed> seeds, const BackwardRequest& request, RunMemory& memory,
                                 BoundSteps& steps, Ledger& ledger, Statistics& statistics, std::int64_t beside) {
  // One buffer for all, so that a graph run bit by bit does not search through as many.
  const auto bytes_of = [&](const Run& run) {
    return gradient_layout(*run.plan, runs.size(), request.any_wanted()).bytes;
  };
  std::int64_t bytes = 0;
  for (const Run& run : runs) bytes += bytes_of(run);
  std::byte* const buffer = memory.take(bytes);
  std::byte* next = buffer;
  for (Run& run : runs) {
    run.gradients = next;
    next += bytes_of(run);
  }
  struct Return {
    RunMemory& memory;
    std::byte* buffer;
    ~Return() { memory.give(buffer); }
  } const at_the_end{memory, buffer};
  Backward pass(graph, table, runs, request, steps, statistics, {buffer, bytes}, ledger);
  std::vector<Tensor> wanted = pass.run(seeds);
  statistics.take_peak(beside + memory.bytes_used() + pass.memory(), memory.bytes_used());
  return wanted;
}

}  // namespace espalier::exec
