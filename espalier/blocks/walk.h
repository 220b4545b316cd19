/// Walk: runs the instructions of a model over one instance after the other, and records on a graph.
///
/// The stack of frames is its own and grows, so that the depth of an input is no limit. Memory is kept from one
/// instance to the next.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "espalier/blocks/code.h"
#include "espalier/blocks/memo_table.h"
#include "espalier/blocks/slot.h"
#include "espalier/graph/graph.h"

namespace espalier::blocks {

class Walk {
 public:
  explicit Walk(const Code& code);
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  /// Records the instance and leaves the results in `results`, as many slots as the output type has. They live until
  /// the next call. Adds the path and the number of the instance to whatever is thrown.
  void run(Graph& graph, const void* input, std::int64_t instance);

  std::vector<Slot> results;

  /// What was collected: the number of the channel, and its value (with its label, where it has one) at `first` of
  /// `collected`.
  struct Collected {
    std::int32_t channel;
    std::size_t first;
  };
  std::vector<Collected> metrics;
  std::vector<Collected> taps;
  std::vector<Slot> collected;
  /// Forgets all of these.
  void forget_collected();
  /// The losses of all instances so far: numbers, with their weights.
  std::vector<Expr> losses;
  /// Objects and sequences that results and collected values refer to. To keep them longer, take it.
  std::shared_ptr<Keep> keep = std::make_shared<Keep>();

  // --- for instructions ----------------------------------------------------------------------------------------------

  Graph& graph() { return *graph_; }
  Slot& in(const Instruction& at, std::int32_t i) { return frame_[at.in[i]]; }
  Slot& out(const Instruction& at, std::int32_t i) { return frame_[at.out[i]]; }
  Slot* frame() { return frame_; }
  std::size_t& hint(std::int32_t number) { return hints_[static_cast<std::size_t>(number)]; }
  MemoTable& memo() { return memo_; }

 private:
  /// What a call leaves on the stack before the registers of its procedure.
  struct Frame {
    const Instruction* back;      // where to go on
    const std::int32_t* results;  // registers of the caller
    std::int64_t base;            // of the caller's frame
    std::int32_t size;            // of the caller's frame
  };

  static constexpr std::int64_t kFrameSlots = 2;
  static_assert(sizeof(Frame) <= kFrameSlots * sizeof(Slot) && alignof(Frame) <= alignof(Slot));

  void execute(const void* input);
  void reserve(std::int64_t slots);
  [[noreturn]] void rethrow(std::int64_t instance) const;

  const Code& code_;
  Graph* graph_ = nullptr;
  const Instruction* at_ = nullptr;
  Slot* frame_ = nullptr;
  std::vector<Slot> stack_;
  std::vector<std::size_t> hints_;
  MemoTable memo_;
};

}  // namespace espalier::blocks
