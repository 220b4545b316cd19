/// What a recursion compiles to for one shape of x: a program for each of its kinds, and where its operands come from.
///
/// A step runs over the rows of all its nodes. They are put into an order, kind after kind and within one from the
/// lowest to the highest, so that rows of one kind and height lie beside each other, and all of one kind: rows are
/// computed by height, and the gradients of a kind's weights are one product.
///
/// Thread safety: never changes once made; running it is for any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/cells/program.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/op_info.h"
#include "espalier/ops/step.h"

namespace espalier::cells {

/// The fields of a row, as int32: these, then its children, counted from the first row of its node; -1 for none.
struct RowField {
  enum : std::int32_t { kKind, kHeight, kX, kFirstChild };
};

/// The fields of row r of a step.
inline const std::int32_t* fields_of_row(const StepIn& in, std::int64_t r) {
  return reinterpret_cast<const std::int32_t*>(in.fields_data + r * in.fields_stride);
}
inline std::int32_t kind_of_row(const StepIn& in, std::int64_t r) { return fields_of_row(in, r)[RowField::kKind]; }

/// An input of a kind's program.
struct RecursionInput {
  static constexpr std::int32_t kX = -1;

  std::int32_t child = kX;  // whose state it is a part of
  std::int32_t part = 0;    // which
  std::int64_t width = 0;
  /// Of what is multiplied together, and not x alone: where it lies in a row of operands; -1: read wherever it is.
  std::int64_t column = -1;
};

/// How rows of one kind are computed.
struct RecursionProgram {
  std::shared_ptr<const Program> program;
  std::vector<RecursionInput> inputs;   // of the program
  std::vector<std::size_t> parameters;  // of the program: which inputs of the recursion they are
  std::uint64_t reads = 0;              // the same, a bit each
  std::uint64_t of_children = 0;        // of the program: which inputs are states of children, a bit each
  std::int64_t operands = 0;            // floats a row: what is multiplied together, side by side
  std::int64_t x_kept = 0;              // floats a row: x in the order of the rows, where its product is hoisted
  std::int64_t saved = 0;               // what the program leaves for its backward
  std::int64_t deferred = 0;            // and for the gradients of its weights
  bool hoists = false;                  // its product of x runs for all heights at once

  /// Floats a row that are kept for backward.
  std::int64_t kept() const { return operands + x_kept + saved; }
};

class CompiledRecursion {
 public:
  /// Makes the op from `kinds`, which are compiled.
  CompiledRecursion(const std::string& name, std::vector<RecursionProgram> kinds, std::int32_t most_children,
                    std::vector<const Parameter*> parameters, std::vector<Shape> states);
  CompiledRecursion(const CompiledRecursion&) = delete;
  CompiledRecursion& operator=(const CompiledRecursion&) = delete;
  ~CompiledRecursion() = default;

  /// Different for every one of the process.
  std::uint64_t uid() const { return uid_; }
  std::span<const RecursionProgram> kinds() const { return kinds_; }
  std::int32_t most_children() const { return most_children_; }
  /// Which come behind x.
  std::span<const Parameter* const> parameters() const { return parameters_; }
  const Shape& state(std::size_t part) const { return states_[part]; }
  std::size_t parts() const { return states_.size(); }
  /// The op of a node, and that of each further part of the state.
  const OpInfo& info(std::size_t part = 0) const { return infos_[part]; }
  /// Floats a row that forward leaves for backward, and backward for the gradients of weights.
  std::int64_t saved() const { return saved_; }
  std::int64_t deferred() const { return deferred_; }

 private:
  void make_infos();

  std::uint64_t uid_ = new_uid();
  std::vector<RecursionProgram> kinds_;
  std::int32_t most_children_;
  std::vector<const Parameter*> parameters_;
  std::vector<Shape> states_;
  std::vector<std::string> names_;
  std::vector<Input> inputs_;
  std::vector<Input> result_inputs_;
  std::vector<OpInfo> infos_;
  std::int64_t saved_ = 0;
  std::int64_t deferred_ = 0;
};

/// Attributes of a node are the address of what it was compiled to, as those of a cell are.
const CompiledRecursion& recursion_of(const void* attrs);

// The functions of the op (cells/recursion_run.cc).
void run_recursion(const void* attrs, const StepIn& in, const StepOut& out);
void run_recursion_backward(const void* attrs, const Saved& saved, Grads& grads);
void run_recursion_weight_gradients(const void* attrs, const Saved& saved, Grads& grads);

/// The most inputs of an op that is a recursion, x and parameters: masks have so many bits.
inline constexpr std::size_t kMostRecursionInputs = 64;

}  // namespace espalier::cells
