/// Walk: runs the instructions of a model over one instance after the other, and records on a graph.
///
/// The stack of frames is its own and grows, so that the depth of an input is no limit. Memory is kept from one
/// instance to the next, and from one walk of a thread to the next.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/blocks/code.h"
#include "espalier/blocks/function.h"
#include "espalier/blocks/memo_table.h"
#include "espalier/blocks/slot.h"
#include "espalier/graph/graph.h"

namespace espalier::blocks {

class Walk {
 public:
  explicit Walk(const Code& code);
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;
  ~Walk();

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
  std::span<const Expr> losses() const { return {losses_.data(), loss_count_}; }
  /// Objects and sequences that results and collected values refer to. To keep them longer, take it.
  std::shared_ptr<Keep> keep = std::make_shared<Keep>();

  // --- for instructions ----------------------------------------------------------------------------------------------

  Graph& graph() { return *context_.graph; }
  Slot& in(const Instruction& at, std::int32_t i) { return slot_at(context_.frame, at.in[i]); }
  Slot& out(const Instruction& at, std::int32_t i) { return slot_at(context_.frame, at.out[i]); }
  void add_loss(const Expr& loss) {
    if (loss_count_ == losses_.size()) [[unlikely]]
      make_room_for_losses();
    losses_[loss_count_++] = loss;
  }
  std::size_t& hint(std::int32_t number) { return hints_[static_cast<std::size_t>(number)]; }
  MemoTable& memo() { return memo_; }

  // Steps that are of the walk itself.

  /// Goes on elsewhere.
  static const Instruction* jump(Walk& walk, const Instruction& at);
  /// Copies `count` registers.
  static const Instruction* move(Walk& walk, const Instruction& at);
  /// Calls a function of the user (data: ApplySpec).
  static const Instruction* apply(Walk& walk, const Instruction& at);
  /// Reads a member of a struct, which lies `number` bytes behind its beginning.
  static const Instruction* member(Walk& walk, const Instruction& at);
  /// member(), and apply() for the instruction that follows.
  static const Instruction* member_and_apply(Walk& walk, const Instruction& at);
  /// Reads what a member of a struct points to (data: FieldSpec).
  static const Instruction* field(Walk& walk, const Instruction& at);
  /// Calls a procedure (data: Procedure), whose frame comes `count` slots behind the caller's.
  static const Instruction* call(Walk& walk, const Instruction& at);
  /// field() and call() (data: FieldCallSpec).
  static const Instruction* call_with_field(Walk& walk, const Instruction& at);
  /// call_with_field() for this instruction and the next. Near the root it runs both procedures itself: a processor
  /// foretells where a function returns to, and would have to guess which of the two calls an instruction returns to.
  static const Instruction* call_twice_with_field(Walk& walk, const Instruction& at);
  /// Gives `count` registers to the caller.
  static const Instruction* return_to_caller(Walk& walk, const Instruction& at);
  /// The end of the model: `count` registers are its results.
  static const Instruction* finish(Walk& walk, const Instruction& at);

  /// The slot before a frame is its link.
  static constexpr std::int32_t kBetweenFrames = 1;

 private:
  /// Runs from here to the end, or to the return of a procedure without a place to go back to.
  void go(const Instruction* at);
  /// Opens the frame of a procedure.
  Slot* enter(const Procedure& procedure, const Instruction& call, const Instruction* back);
  const Instruction* enter_with_field(const Instruction& call, const Instruction* back);
  [[gnu::noinline]] void make_room_for_losses();
  /// Makes room for so many slots from here on. Frames may move.
  [[gnu::noinline]] Slot* grow(Slot* from, std::int64_t slots);
  /// Throws what is being handled again, with the block, its path, the instance and the place in its data.
  [[noreturn]] void rethrow(const void* input, std::int64_t instance) const;
  /// Where in the data it is, as "/items/3/name"; empty where nothing says so.
  std::string place_of_error(const void* input, const void* refused) const;

  const Code& code_;
  CallContext context_;  // with the frame of the procedure that runs
  const Instruction* at_ = nullptr;
  std::int32_t running_ = 0;  // calls of go() within each other
  std::vector<Slot> stack_;   // with what lay in it before
  Slot* end_ = nullptr;       // of it
  std::vector<Expr> losses_;  // longer than what is in it
  std::size_t loss_count_ = 0;
  std::vector<std::size_t> hints_;
  MemoTable memo_;
};

}  // namespace espalier::blocks
