/// What the operands of steps are made of, when the place of every row is known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "torch_plan.h"
#include "torch_recording.h"

namespace espalier::python {

/// Calls f(operand, input) for all operands of these nodes, operand after operand; where their number is any, node
/// after node. Nodes are counted from `first`.
template <class F>
void for_each_operand(const TorchRecording& recording, std::int32_t first, std::span<const std::int32_t> nodes,
                      const F& f) {
  const TorchSignature& signature = recording.signature(recording.signature_of(first + nodes.front()));
  if (signature.any_number) {
    for (const std::int32_t v : nodes)
      for (const TorchInput& input : recording.inputs_of(first + v)) f(0, input);
    return;
  }
  for (std::size_t i = 0; i < signature.inputs.size(); ++i)
    for (const std::int32_t v : nodes) f(static_cast<std::int32_t>(i), recording.inputs_of(first + v)[i]);
}

class TorchGathers {
 public:
  /// Fills in the plan's steps, which have blocks, nodes and segments. `first_use` is of nodes from the recording's
  /// done() on.
  TorchGathers(const TorchRecording& recording, TorchPlan& plan, std::span<const std::int32_t> first_use);

  /// Step s, after those before it. Rows of its nodes are in the order of their places.
  void fill(std::int32_t s);

 private:
  struct Source;
  struct Entry {
    std::int32_t piece;
    std::int32_t row;  // of the piece's block
  };

  TorchPlace place_of(std::int32_t node) const;
  Source source_of(std::int32_t step, TorchInput input) const;
  void gather(std::int32_t step, TorchGather gather);
  void look_at(std::int32_t step, TorchInput input, TorchGather& gather);
  void select_rows(TorchGather& gather);
  void index_rows(TorchGather& gather);
  void fill_fields(TorchStep& step);
  void fill_lists(TorchStep& step);
  std::int32_t add_part(std::span<const std::int64_t> numbers);

  const TorchRecording& recording_;
  TorchPlan& plan_;
  std::span<const std::int32_t> first_use_;
  std::vector<std::vector<std::int32_t>> nodes_;          // of each step by row, counted from done()
  std::vector<std::vector<std::int32_t>> segment_begin_;  // of each step
  std::vector<std::int32_t> steps_of_segments_;
  std::vector<std::int32_t> piece_at_;  // by block, result, and whether a segment; -1 for none
  std::int32_t most_results_ = 1;
  // of the gather that is being made
  std::vector<Entry> entries_;
  std::vector<std::int32_t> uses_;    // of each piece
  std::vector<std::int32_t> sizes_;   // rows of each piece
  std::vector<std::int32_t> begins_;  // of each piece: the first of its block's rows
  std::vector<std::int64_t> numbers_;
};

}  // namespace espalier::python
