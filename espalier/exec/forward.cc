#include "espalier/exec/forward.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/exec/aligned_rows.h"
#include "espalier/exec/node_call.h"
#include "espalier/exec/step_pieces.h"
#include "espalier/exec/stopwatch.h"
#include "espalier/ops/product_rows.h"

namespace espalier::exec {
namespace {

class Forward {
 public:
  Forward(const Graph& graph, const NodeTable& table, const Run& run, StepViews& views, Statistics& statistics)
      : graph_(graph), table_(table), run_(run), views_(views), statistics_(statistics) {}

  void run() {
    for (std::int32_t step = 0; step < run_.plan->steps(); ++step) {
      const std::span<const NodeId> nodes = run_.rows_of(step);
      if (divides(nodes)) {
        put_off(step, nodes);
      } else {
        run_together();
        run_step(step, nodes);
      }
    }
    run_together();
  }

 private:
  void run_step(std::int32_t step, std::span<const NodeId> nodes) {
    const Signature& signature = graph_.signature(nodes[0]);
    if (signature.info->kind == Kind::kResult) return;  // the step before has computed it
    Stopwatch watch(graph_.options().profile);
    if (signature.side_by_side && !table_.is_apart(nodes[0])) {
      copy_parts(nodes);
      watch.lap(statistics_.seconds.copying);
    } else if (graph_.type(nodes[0]).dtype == DType::kFloat64) {
      for (NodeId node : nodes)
        for (std::int64_t row = 0; row < graph_.rows(node); ++row) run_plain(node, row);
      watch.lap(statistics_.seconds.maps);
    } else {
      copy_to_blocks(step, nodes);
      watch.lap(statistics_.seconds.copying);
      KernelWatch kernel(graph_.options().profile);
      run_kernel(*signature.info, graph_.attrs(nodes[0]), views_.forward(run_, step, nodes));
      kernel.stop(signature.info->kind == Kind::kProduct, statistics_.seconds);
    }
  }

  // --- steps that run together ---------------------------------------------------------------------------------------

  /// Whether a step may run a few rows at a time, and has more.
  bool divides(std::span<const NodeId> nodes) const {
    if (!has_pieces(graph_, std::ssize(nodes))) return false;
    if (together_.empty() && !is_worth_dividing(graph_, nodes[0], std::ssize(nodes), !run_.training)) return false;
    const Signature& signature = graph_.signature(nodes[0]);
    return runs_by_rows(graph_, nodes[0]) && (!signature.side_by_side || table_.is_apart(nodes[0]));
  }
  /// A step waits for those behind it that have the same rows in the same order.
  void put_off(std::int32_t step, std::span<const NodeId> nodes) {
    const std::span<const plan::Block> blocks = run_.plan->blocks_of(step);
    const auto is_copied_to = [](const plan::Block& block) { return block.copy_end > block.copy_begin; };
    if (std::any_of(blocks.begin(), blocks.end(), is_copied_to)) {
      run_together();
      Stopwatch watch(graph_.options().profile);
      copy_to_blocks(step, nodes);
      watch.lap(statistics_.seconds.copying);
    }
    const std::size_t place = together_.size();
    const StepView& view = views_.forward(run_, step, nodes, place);
    if (place > 0 && !may_join(view)) {
      run_together();
      views_.begin_with(place);
    }
    together_.push_back(&view);
    for (const Rows& rows : written_by(view))
      if (rows.data != nullptr) written_.add(rows);
    for (const ConstRows& rows : view.in().inputs)
      if (!rows.shared()) read_.add(rows);
  }
  static std::array<Rows, 2> written_by(const StepView& view) { return {view.y(), view.saved()}; }
  /// What it reads of the others' results it reads row by row, and where memory is used again, it writes so.
  bool may_join(const StepView& view) const {
    const std::span<const ConstRows> inputs = view.in().inputs;
    const std::array<Rows, 2> written = written_by(view);
    return view.in().rows == together_[0]->in().rows &&
           std::all_of(inputs.begin(), inputs.end(), [&](const ConstRows& rows) { return written_.fit(rows); }) &&
           std::all_of(written.begin(), written.end(), [&](const Rows& rows) {
             return rows.data == nullptr || (written_.fit(rows) && read_.fit(rows));
           });
  }
  void run_together() {
    if (together_.empty()) return;
    const StepView& first = *together_[0];
    const NodeId node = first.nodes()[0];
    const OpInfo& info = *graph_.signature(node).info;
    KernelWatch kernel(graph_.options().profile);
    if (together_.size() == 1)
      run_kernel(info, graph_.attrs(node), first);
    else
      for_each_piece_of_step(graph_, first.in(), first.y().width, [&](std::int64_t begin, std::int64_t end) {
        thread_local std::vector<ConstRows> rows;
        for (const StepView* view : together_) run_part(*view, begin, end, rows);
      });
    kernel.stop(together_.size() == 1 && info.kind == Kind::kProduct, statistics_.seconds);
    statistics_.fused += std::ssize(together_) - 1;
    together_.clear();
    written_.clear();
    read_.clear();
  }

  // --- kernels -------------------------------------------------------------------------------------------------------

  /// Most parts were written where they belong.
  void copy_parts(std::span<const NodeId> nodes) {
    for (NodeId node : nodes) {
      std::byte* to = table_.address[at(node)];
      for (NodeId input : graph_.inputs(node)) {
        const Type& type = graph_.type(input);
        const auto bytes = static_cast<std::size_t>(type.elements) * size_of(type.dtype);
        const std::byte* from = table_.address[at(input)];
        if (from != to && bytes > 0) {
          std::memcpy(to, from, bytes);
          statistics_.bytes_copied += static_cast<std::int64_t>(bytes);
        }
        to += bytes;
      }
    }
  }

  void copy_to_blocks(std::int32_t step, std::span<const NodeId> nodes) {
    for (const plan::Block& block : run_.plan->blocks_of(step)) {
      std::byte* to = run_.values + run_.plan->values.at[static_cast<std::size_t>(block.piece)] + block.before;
      const auto operand = static_cast<std::size_t>(block.operand);
      const auto bytes =
          static_cast<std::size_t>(graph_.type(graph_.inputs(nodes[0])[operand]).elements) * sizeof(float);
      for (std::int32_t r : run_.plan->copies_of(block)) {
        const auto row = static_cast<std::size_t>(r);
        std::memcpy(to + r * block.row_bytes, table_.address[at(graph_.inputs(nodes[row])[operand])], bytes);
      }
      statistics_.bytes_copied += (block.copy_end - block.copy_begin) * static_cast<std::int64_t>(bytes);
    }
  }

  void run_plain(NodeId node, std::int64_t row) {
    NodeCall call(graph_, node, row);
    const std::int64_t elements = graph_.type(node).elements;
    graph_.signature(node).info->plain_double(
        graph_.attrs(node), graph_.fields(node, row), call.plain<double>(table_.address),
        {reinterpret_cast<double*>(table_.address[at(node)]) + row * elements, static_cast<std::size_t>(elements)});
  }

  void run_part(const StepView& view, std::int64_t begin, std::int64_t end, std::vector<ConstRows>& rows) const {
    const NodeId node = view.nodes()[0];
    graph_.signature(node).info->forward(graph_.attrs(node), part_of(view.in(), begin, end, rows),
                                         {.y = ops::piece_of(view.y(), begin, end - begin),
                                          .saved = ops::piece_of(view.saved(), begin, end - begin),
                                          .results = {}});
  }

  /// Rows are independent; cells and products with shared weights split themselves.
  void run_kernel(const OpInfo& info, const void* attrs, const StepView& view) {
    const StepIn& in = view.in();
    const StepOut out{.y = view.y(), .saved = view.saved(), .results = view.results()};
    if (in.rows == 1 || info.kind == Kind::kCell || info.takes_whole || info.row_an_operand ||
        (info.kind == Kind::kProduct && view.any_shared())) {
      info.forward(attrs, in, out);
      return;
    }
    parallel_for(in.rows, row_grain(in, out.y.width), [&](std::int64_t begin, std::int64_t end) {
      if (begin == 0 && end == in.rows) {
        info.forward(attrs, in, out);
        return;
      }
      std::vector<ConstRows> rows;
      run_part(view, begin, end, rows);
    });
  }

  const Graph& graph_;
  const NodeTable& table_;
  const Run& run_;
  StepViews& views_;
  Statistics& statistics_;
  // Steps that wait, the rows they write, and those they read.
  std::vector<const StepView*> together_;
  AlignedRows written_;
  AlignedRows read_;
};

}  // namespace

void run_forward(const Graph& graph, const NodeTable& table, const Run& run, StepViews& views, Statistics& statistics) {
  views.start(run);
  Forward(graph, table, run, views, statistics).run();
}

}  // namespace espalier::exec
