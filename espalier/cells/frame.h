/// Frame: the rows of a ProgramRun that one thread has at hand, and its memory for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/base/threads.h"
#include "espalier/cells/program_run.h"
#include "espalier/kernels/grain.h"
#include "espalier/ops/weight_product.h"

namespace espalier::cells {

/// Rows of a piece: what a product leaves is still in the second cache when the next instruction reads it.
inline constexpr std::int64_t kPieceRows = 64;

/// `width` columns of rows, behind the first `offset`.
inline Rows columns_of(Rows rows, std::int64_t offset, std::int64_t width) {
  rows.data += offset;
  rows.width = width;
  if (rows.count == 1 && rows.offsets == nullptr) rows.stride = std::max(rows.stride, width);
  return rows;
}

/// Nobody writes to what is only read: gradients and values share one kind of view.
inline Rows writable(const ConstRows& rows) {
  return {const_cast<float*>(rows.data), rows.count, rows.width, rows.stride, rows.offsets};
}

/// Memory of a thread for the program it runs; used again by the next.
struct Memory {
  struct Scratch {
    std::vector<float> piece, tile;
  };
  Scratch values, gradients;
  std::vector<float> parts;
  std::vector<ConstRows> in;
  std::vector<GradRows> grads;
  std::vector<std::int64_t> offsets;

  static Memory& of_thread() {
    thread_local Memory memory;
    return memory;
  }
  /// `count` floats that nobody else uses until the next call.
  float* room_for_parts(std::int64_t count) {
    if (parts.size() < at(count)) parts.resize(at(count));
    return parts.data();
  }
  void open(const Program& program, bool backward) {
    const auto grow = [](std::vector<float>& memory, std::int64_t floats) {
      if (memory.size() < at(floats)) memory.resize(at(floats));
    };
    grow(values.piece, program.scratch().piece * kPieceRows);
    grow(values.tile, program.scratch().tile * program.tile_rows());
    if (!backward) return;
    grow(gradients.piece, program.scratch().piece_gradients * kPieceRows);
    grow(gradients.tile, program.scratch().tile_gradients * program.tile_rows());
  }
};

class Frame {
 public:
  Frame(const ProgramRun& run, bool backward) : run_(run), memory_(Memory::of_thread()) {
    memory_.open(run.program(), backward);
  }

  const ProgramRun& run() const { return run_; }
  const Program& program() const { return run_.program(); }
  Memory& memory() const { return memory_; }

  /// All rows of a step at once, for what reads only what forward kept: of anything else one row stands for all.
  void open_all() {
    all_rows_ = true;
    open_piece(0, run_.in().rows);
  }
  /// A new piece: `count` rows from row `begin` of the step on.
  void open_piece(std::int64_t begin, std::int64_t count) {
    piece_begin_ = begin;
    piece_count_ = count;
    open_tile(begin, count);
  }
  /// The rows at hand: the whole piece, or some of its rows.
  void open_tile(std::int64_t begin, std::int64_t count) {
    begin_ = begin;
    count_ = count;
  }
  void open_whole() { open_tile(piece_begin_, piece_count_); }
  std::int64_t begin() const { return begin_; }
  std::int64_t count() const { return count_; }

  // Inlined: called for each operand of each instruction, often of a few rows, they took 8 % of the time of one query
  // plan (B7, hidden size 32, inference).

  /// `width` columns of what is at a location, behind the first `offset`.
  [[gnu::always_inline]] Rows rows_at(const Location& location, std::int64_t offset, std::int64_t width,
                                      Memory::Scratch& scratch) const {
    if (location.in == Location::In::kRows) return rows_of_step(location, offset, width);
    const bool in_tile = location.in == Location::In::kTile;
    float* const data = (in_tile ? scratch.tile : scratch.piece).data() + location.before + offset;
    if (all_rows_) return {data, count_, width, 0, nullptr};
    return {in_tile ? data : data + (begin_ - piece_begin_) * location.stride, count_, width, location.stride, nullptr};
  }
  [[gnu::always_inline]] Rows operand(const Instruction& instruction, std::size_t k) const {
    const OperandPlace& place = program().place(instruction.number_of(k));
    if (place.base < 0) return {writable(run_.in().inputs[at(place.input)]).data, count_, place.width, 0, nullptr};
    return rows_at(run_.value(place.base), place.offset, place.width, memory_.values);
  }
  Rows result(const Instruction& instruction) const { return operand(instruction, at(instruction.operands)); }
  /// The gradient of an operand, and how it is written; none where it has none.
  GradRows operand_gradient(const Instruction& instruction, std::size_t k) const {
    const OperandPlace& place = program().place(instruction.number_of(k));
    if (place.write == Write::kNone) return {};
    const Location& location = run_.gradient(place.base);
    if (location.is_none()) return {};
    const bool is_stored =
        place.write == Write::kStore || (place.write == Write::kInput && run_.grads()[at(place.input)].stores());
    return {rows_at(location, place.offset, place.width, memory_.gradients), is_stored};
  }
  Rows result_gradient(const Instruction& instruction) const {
    const OperandPlace& place = program().place(instruction.number_of_made());
    return rows_at(run_.gradient(place.base), place.offset, place.width, memory_.gradients);
  }
  Rows gradient_of(const Columns& columns) const {
    return rows_at(run_.gradient(columns.base), columns.offset, columns.width, memory_.gradients);
  }
  Rows saved_of(const Instruction& instruction) const {
    if (instruction.saved_floats == 0 || run_.saved().is_none()) return {};
    return rows_of_step(run_.saved().columns(instruction.saved, instruction.saved_floats), 0, instruction.saved_floats);
  }
  ops::Weights weights_of(const Instruction& instruction) const {
    const OperandPlace& W = program().place(instruction.number_of(at(instruction.parts)));
    const std::int64_t m = program().place(instruction.number_of_result()).width;
    const auto input = at(W.input);
    return {run_.in().inputs[input].data, W.width / m, m, run_.in().parameter(input), run_.in().use};
  }

  /// The rows at hand as an op's kernel wants them. Valid until the next call.
  StepIn step_in(const Instruction& instruction) const {
    StepIn step;
    step.rows = count_;
    memory_.in.resize(at(instruction.operands));
    for (std::size_t k = 0; k < memory_.in.size(); ++k) memory_.in[k] = operand(instruction, k);
    step.shapes = instruction.shapes;
    if (instruction.info->is_ragged()) open_ragged(instruction, step);
    step.inputs = memory_.in;
    step.out = &program().value(instruction.out).shape;
    if (instruction.random >= 0) {
      step.fields_data = run_.in().fields_data + begin_ * run_.in().fields_stride + instruction.random;
      step.fields_stride = run_.in().fields_stride;
    } else {
      step.fields_data = instruction.fields.data();  // one for all rows
    }
    return step;
  }

 private:
  [[gnu::always_inline]] Rows rows_of_step(const Location& location, std::int64_t offset, std::int64_t width) const {
    float* const data = location.data + offset;
    if (location.offsets == nullptr) {
      const std::int64_t stride = count_ == 1 ? std::max(location.stride, width) : location.stride;
      return {data + begin_ * location.stride, count_, width, stride, nullptr};
    }
    if (count_ > 1) return {data, count_, width, location.stride, location.offsets + begin_};
    return {data + location.offsets[begin_], 1, width, std::max(location.stride, width), nullptr};
  }
  /// One list of the operands of all rows, row after row.
  void open_ragged(const Instruction& instruction, StepIn& step) const {
    const std::int64_t n = instruction.operands;
    memory_.offsets.resize(at(count_ * n + count_ + 1));
    std::int64_t* const places = memory_.offsets.data();
    std::int64_t* const begins = places + count_ * n;
    const float* const first = memory_.in[0][0];
    for (std::int64_t r = 0; r < count_; ++r) {
      begins[r] = r * n;
      for (std::int64_t k = 0; k < n; ++k)
        places[r * n + k] =
            (reinterpret_cast<std::intptr_t>(memory_.in[at(k)][r]) - reinterpret_cast<std::intptr_t>(first)) /
            static_cast<std::intptr_t>(sizeof(float));
    }
    begins[count_] = count_ * n;
    const std::int64_t width = memory_.in[0].width;
    memory_.in.assign(1, {first, count_ * n, width, width, places});
    step.shapes = step.shapes.first(1);
    step.offsets = begins;
  }

  const ProgramRun& run_;
  Memory& memory_;
  bool all_rows_ = false;
  std::int64_t piece_begin_ = 0;
  std::int64_t piece_count_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t count_ = 0;
};

/// Whether the parts lie side by side in every row: they are one matrix then.
template <class Part>
bool side_by_side(std::int32_t parts, const Part& part) {
  const auto first = part(0);
  std::int64_t width = first.width;
  for (std::int32_t k = 1; k < parts; ++k) {
    const auto next = part(k);
    if (next.offsets != nullptr || first.offsets != nullptr || next.data != first.data + width) return false;
    if (first.count > 1 && next.stride != first.stride) return false;
    width += next.width;
  }
  return true;
}

/// The fewest rows of a program that are worth a thread.
inline std::int64_t grain_of(const Program& program) {
  constexpr std::int64_t kLeastRows = 8;
  return std::max(kLeastRows, kernels::kLeastWork / std::max<std::int64_t>(program.work(), 1));
}

/// Calls f(begin, count) for the pieces of some rows, in the threads of the pool where that pays.
template <class F>
void for_each_piece(const Program& program, std::int64_t first, std::int64_t rows, const F& f) {
  parallel_for(rows, grain_of(program), [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += kPieceRows) f(first + begin, std::min(kPieceRows, end - begin));
  });
}

/// Calls f(begin, count) for the tiles of a piece.
template <class F>
void for_each_tile(const Frame& frame, std::int64_t tile_rows, const F& f) {
  const std::int64_t end = frame.begin() + frame.count();
  for (std::int64_t begin = frame.begin(); begin < end; begin += tile_rows) f(begin, std::min(tile_rows, end - begin));
}

}  // namespace espalier::cells
