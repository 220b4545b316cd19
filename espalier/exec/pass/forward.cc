#include "espalier/exec/pass/forward.h"

#include <cstring>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/exec/node_call.h"
#include "espalier/exec/stopwatch.h"
#include "espalier/exec/traced.h"
#include "espalier/ops/product_rows.h"

namespace espalier::exec {
namespace {

class Forward {
 public:
  Forward(const Graph& graph, const NodeTable& table, const Run& run, BoundSteps& steps, Statistics& statistics)
      : graph_(graph), table_(table), run_(run), steps_(steps), statistics_(statistics) {}

  void run() {
    for (std::int32_t step = 0; step < run_.plan->steps(); ++step) run_step(step, run_.rows_of(step));
  }

 private:
  void run_step(std::int32_t step, std::span<const NodeId> nodes) {
    const Signature& signature = graph_.signature(nodes[0]);
    Stopwatch watch(graph_.options().profile);
    if (lies_side_by_side(graph_, table_, nodes[0])) {
      SpanTimer span(
          traced_, [&] { return span_of(graph_, Doing::kCopying, run_.run_number, step, std::ssize(nodes)); },
          signature.info->name);
      copy_parts(nodes);
      watch.lap(statistics_.seconds.copying);
    } else if (graph_.type(nodes[0]).dtype == DType::kFloat64) {
      SpanTimer span(
          traced_, [&] { return span_of(graph_, Doing::kKernel, run_.run_number, step, std::ssize(nodes)); },
          signature.info->name);
      for (NodeId node : nodes)
        for (std::int64_t row = 0; row < graph_.rows(node); ++row) run_plain(node, row);
      watch.lap(statistics_.seconds.maps);
    } else {
      {
        SpanTimer span(
            traced_ && !run_.plan->blocks_of(step).empty(),
            [&] { return span_of(graph_, Doing::kCopying, run_.run_number, step, std::ssize(nodes)); },
            signature.info->name);
        copy_to_blocks(step, nodes);
      }
      watch.lap(statistics_.seconds.copying);
      SpanTimer span(
          traced_, [&] { return span_of(graph_, Doing::kKernel, run_.run_number, step, std::ssize(nodes)); },
          signature.info->name);
      KernelWatch kernel(graph_.options().profile);
      run_kernel(*signature.info, graph_.attrs(nodes[0]), steps_.forward(run_, step, nodes));
      kernel.stop(signature.info->kind == Kind::kProduct, statistics_.seconds);
    }
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

  /// Rows are independent; cells and products with shared weights split themselves.
  void run_kernel(const OpInfo& info, const void* attrs, const BoundStep& view) {
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
      info.forward(attrs, part_of(in, begin, end, rows),
                   {.y = ops::piece_of(out.y, begin, end - begin),
                    .saved = ops::piece_of(out.saved, begin, end - begin),
                    .results = {}});
    });
  }

  const Graph& graph_;
  const NodeTable& table_;
  const Run& run_;
  BoundSteps& steps_;
  Statistics& statistics_;
  const bool traced_ = Trace::is_on();
};

}  // namespace

void run_forward(const Graph& graph, const NodeTable& table, const Run& run, BoundSteps& steps,
                 Statistics& statistics) {
  steps.start(run);
  Forward(graph, table, run, steps, statistics).run();
}

}  // namespace espalier::exec
