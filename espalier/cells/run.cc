#include <algorithm>
#include <array>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/base/threads.h"
#include "espalier/cells/program.h"
#include "espalier/kernels/rows.h"
#include "espalier/ops/product_rows.h"
#include "espalier/ops/weight_product.h"

namespace espalier::cells {
namespace {

/// Rows of a piece: what a product leaves is still in the second cache when the next instruction reads it.
constexpr std::int64_t kPieceRows = 64;
/// Work below which a part is not worth the waking of a thread.
constexpr std::int64_t kLeastWork = std::int64_t{1} << 17;
constexpr std::int64_t kLeastRows = 8;

/// Nobody writes to what is only read: gradients and values share one kind of view.
Rows writable(const ConstRows& rows) {
  return {const_cast<float*>(rows.data), rows.count, rows.width, rows.stride, rows.offsets};
}

Rows columns_of(Rows rows, std::int64_t offset, std::int64_t width) {
  rows.data += offset;
  rows.width = width;
  if (rows.count == 1 && rows.offsets == nullptr) rows.stride = std::max(rows.stride, width);
  return rows;
}

/// Where a value or its gradient is for the rows of a piece: what is found once is used by many instructions.
struct Location {
  float* data = nullptr;
  std::int64_t stride = 0;
  const std::int64_t* offsets = nullptr;
  bool in_tile = false;  // the same memory for every tile
};

/// Memory of a thread for the program it runs; used again by the next.
struct Memory {
  std::vector<float> piece, tile, piece_gradients, tile_gradients, parts;
  std::vector<Location> values, gradients;
  std::vector<ConstRows> in;
  std::vector<GradRows> grads;
  std::vector<std::int64_t> offsets;

  static Memory& of_thread() {
    thread_local Memory memory;
    return memory;
  }
  void open(const Program& program, bool backward) {
    const auto grow = [](std::vector<float>& memory, std::int64_t floats) {
      if (memory.size() < at(floats)) memory.resize(at(floats));
    };
    grow(piece, program.scratch().piece * kPieceRows);
    grow(tile, program.scratch().tile * program.tile_rows());
    if (!backward) return;
    grow(piece_gradients, program.scratch().piece_gradients * kPieceRows);
    grow(tile_gradients, program.scratch().tile_gradients * program.tile_rows());
  }
};

Location location_of(const Rows& rows) { return {rows.data, rows.stride, rows.offsets, false}; }

/// What the rows of a step are, for one run of a program over some of them.
class Frame {
 public:
  Frame(const Program& program, const StepIn& in, std::span<const Rows> results, const Rows& saved, Memory& memory)
      : program_(program), in_(in), results_(results), saved_(saved), memory_(memory) {}

  const Program& program() const { return program_; }
  const StepIn& in() const { return in_; }
  Memory& memory() const { return memory_; }

  /// All rows of a step at once, for what reads only what forward kept.
  void open_all(std::int64_t rows) {
    all_rows_ = true;
    open_piece(0, rows);
  }
  /// A new piece: `count` rows from row `begin` of the step on.
  void open_piece(std::int64_t begin, std::int64_t count) {
    piece_begin_ = begin;
    piece_count_ = count;
    open_tile(begin, count);
    const std::span<const Base> bases = program_.bases();
    memory_.values.resize(bases.size());
    for (std::size_t b = 0; b < bases.size(); ++b) memory_.values[b] = locate(bases[b]);
    if (in_.hoisted.data != nullptr)
      memory_.values[at(program_.hoisted_base())] = location_of(ops::piece_of(in_.hoisted, begin, count));
  }
  /// The rows at hand: the whole piece, or some of its rows.
  void open_tile(std::int64_t begin, std::int64_t count) {
    begin_ = begin;
    count_ = count;
  }
  void open_whole() { open_tile(piece_begin_, piece_count_); }
  std::int64_t begin() const { return begin_; }
  std::int64_t count() const { return count_; }

  Rows rows_at(const Location& location, std::int64_t offset, std::int64_t width) const {
    if (location.offsets != nullptr)
      return {location.data + offset, count_, width, location.stride, location.offsets + begin_ - piece_begin_};
    const std::int64_t before = location.in_tile ? 0 : (begin_ - piece_begin_) * location.stride;
    return {location.data + offset + before, count_, width, location.stride, nullptr};
  }
  Rows value(std::int32_t id) const {
    const Value& value = program_.value(id);
    return rows_at(memory_.values[at(value.base)], value.offset, value.width);
  }
  /// Also of a shared input.
  ConstRows operand(std::int32_t id) const {
    const Value& value = program_.value(id);
    if (value.base >= 0) return rows_at(memory_.values[at(value.base)], value.offset, value.width);
    return {in_.inputs[at(value.shared)].data, count_, value.width, 0, nullptr};
  }
  /// Whether forward leaves anything for backward.
  bool saves() const { return saved_.data != nullptr; }
  Rows saved_of(const Instruction& instruction) const {
    if (instruction.saved_floats == 0 || saved_.data == nullptr) return {};
    return columns_of(ops::piece_of(saved_, begin_, count_), instruction.saved, instruction.saved_floats);
  }
  /// Memory of the tile or of the piece: so many floats a row before.
  Location scratch(bool in_tile, std::int64_t before, std::int64_t width, std::vector<float>& tile,
                   std::vector<float>& piece) const {
    if (in_tile) return {tile.data() + before * program_.tile_rows(), width, nullptr, true};
    return {piece.data() + before * kPieceRows, width, nullptr, false};
  }

  /// The rows at hand as an op's kernel wants them. Valid until the next call.
  StepIn step_in(const Instruction& instruction) const {
    StepIn step;
    step.rows = count_;
    memory_.in.clear();
    for (std::int32_t id : instruction.in) memory_.in.push_back(operand(id));
    step.shapes = instruction.shapes;
    if (instruction.info->is_ragged()) open_ragged(instruction, step);
    step.inputs = memory_.in;
    step.out = &program_.value(instruction.out).shape;
    if (instruction.random >= 0) {
      step.fields_data = in_.fields_data + begin_ * in_.fields_stride + instruction.random;
      step.fields_stride = in_.fields_stride;
    } else {
      step.fields_data = instruction.fields.data();  // one for all rows
    }
    return step;
  }

 private:
  Location locate(const Base& base) const {
    if (base.place == Place::kInput)
      return location_of(writable(ops::piece_of(in_.inputs[at(base.number)], piece_begin_, piece_count_)));
    if (base.place == Place::kResult)
      return location_of(ops::piece_of(results_[at(base.number)], piece_begin_, piece_count_));
    if (base.saved >= 0 && saved_.data != nullptr) {
      Location location = location_of(ops::piece_of(saved_, piece_begin_, piece_count_));
      location.data += base.saved;
      return location;
    }
    Location location = scratch(base.in_tile, base.scratch, base.width, memory_.tile, memory_.piece);
    if (all_rows_) location.stride = 0;  // nobody reads it: one row stands for all
    return location;
  }

  /// One list of the operands of all rows, row after row.
  void open_ragged(const Instruction& instruction, StepIn& step) const {
    const auto n = static_cast<std::int64_t>(instruction.in.size());
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

  const Program& program_;
  const StepIn& in_;
  std::span<const Rows> results_;
  Rows saved_;
  Memory& memory_;
  bool all_rows_ = false;
  std::int64_t piece_begin_ = 0;
  std::int64_t piece_count_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t count_ = 0;
};

ops::Weights weights_of(const Frame& frame, const Instruction& instruction) {
  const Value& W = frame.program().value(instruction.in[at(instruction.parts)]);
  const auto input = at(W.shared);
  return {frame.in().inputs[input].data, W.shape[0], W.shape[1], frame.in().parameter(input), frame.in().use};
}

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

/// Parts as one matrix: where they lie, or copied beside each other.
ConstRows joined(const Frame& frame, const Instruction& instruction, std::int64_t width) {
  if (instruction.parts == 1) return frame.value(instruction.in[0]);
  const auto part = [&](std::int32_t k) { return frame.value(instruction.in[at(k)]); };
  if (side_by_side(instruction.parts, part)) return columns_of(part(0), 0, width);
  std::vector<float>& memory = frame.memory().parts;
  memory.resize(std::max(memory.size(), at(frame.count() * width)));
  std::int64_t column = 0;
  for (std::int32_t k = 0; k < instruction.parts; ++k) {
    const Rows rows = part(k);
    for (std::int64_t r = 0; r < frame.count(); ++r)
      kernels::copy({rows[r], at(rows.width)}, {memory.data() + r * width + column, at(rows.width)});
    column += rows.width;
  }
  return {memory.data(), frame.count(), width, width, nullptr};
}

void forward_product(const Frame& frame, const Instruction& instruction) {
  const ops::Weights W = weights_of(frame, instruction);
  const bool has_bias = instruction.in.size() > at(instruction.parts) + 1;
  const float* bias = has_bias ? frame.operand(instruction.in.back()).data : nullptr;
  ops::multiply_by_weights(joined(frame, instruction, W.k), W, bias, frame.value(instruction.out),
                           instruction.accumulates);
}

void forward_op(const Frame& frame, const Instruction& instruction) {
  StepOut out;
  out.y = frame.value(instruction.out);
  out.saved = frame.saved_of(instruction);
  out.in_place = instruction.in_place && frame.saves();
  const bool needs_place = instruction.saved_floats > 0 && instruction.info->overwrites == nullptr;
  if (needs_place && out.saved.data == nullptr) {
    std::vector<float>& unread = frame.memory().parts;
    if (unread.size() < at(instruction.saved_floats)) unread.resize(at(instruction.saved_floats));
    out.saved = {unread.data(), frame.count(), instruction.saved_floats, 0, nullptr};  // one for all rows
  }
  instruction.info->forward(instruction.attrs.data(), frame.step_in(instruction), out);
}

/// Calls f(begin, count) for the tiles of a piece.
template <class F>
void for_each_tile(const Frame& frame, std::int64_t tile_rows, const F& f) {
  const std::int64_t end = frame.begin() + frame.count();
  for (std::int64_t begin = frame.begin(); begin < end; begin += tile_rows) f(begin, std::min(tile_rows, end - begin));
}

void forward_piece(Frame& frame, std::int64_t begin, std::int64_t count) {
  const Program& program = frame.program();
  frame.open_piece(begin, count);
  for (const Group& group : program.groups()) {
    if (group.first == 0 && frame.in().hoisted.data != nullptr) continue;
    frame.open_whole();
    const Instruction& first = program.instructions()[at(group.first)];
    if (first.is_product()) {
      forward_product(frame, first);
      continue;
    }
    for_each_tile(frame, group.tile_rows, [&](std::int64_t row, std::int64_t rows) {
      frame.open_tile(row, rows);
      for (std::int32_t i = group.first; i < group.last; ++i) forward_op(frame, program.instructions()[at(i)]);
    });
  }
}

/// Calls f(begin, count) for the pieces of a step, in the threads of the pool where that pays.
template <class F>
void for_each_piece(const Program& program, std::int64_t rows, const F& f) {
  const std::int64_t grain = std::max(kLeastRows, kLeastWork / std::max<std::int64_t>(program.work(), 1));
  parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += kPieceRows) f(begin, std::min(kPieceRows, end - begin));
  });
}

// --- backward --------------------------------------------------------------------------------------------------------

/// The gradients of a frame's values.
class Gradients {
 public:
  /// Of the piece that the frame has opened.
  Gradients(const Frame& frame, const Saved& saved, const Grads& grads) : frame_(frame), grads_(grads) {
    std::vector<Location>& all = frame.memory().gradients;
    const std::span<const Base> bases = frame.program().bases();
    all.resize(bases.size());
    for (std::size_t b = 0; b < bases.size(); ++b) all[b] = locate(bases[b], saved);
  }

  Rows base(std::int32_t number) const {
    const Location& location = frame_.memory().gradients[at(number)];
    return location.data == nullptr ? Rows() : frame_.rows_at(location, 0, frame_.program().bases()[at(number)].width);
  }
  Rows value(std::int32_t id) const {
    const Value& value = frame_.program().value(id);
    const Location& location = frame_.memory().gradients[at(value.base)];
    return location.data == nullptr ? Rows() : frame_.rows_at(location, value.offset, value.width);
  }
  /// The gradient of an operand of an instruction, and how it is written.
  GradRows operand(const Instruction& instruction, std::size_t k) const {
    const Write write = instruction.writes[k];
    if (write == Write::kNone) return {};
    const Rows rows = value(instruction.in[k]);
    if (rows.data == nullptr) return {};
    return {rows, write == Write::kStore || (write == Write::kInput && stores(instruction.in[k]))};
  }
  void zero(const Columns& columns) const {
    const Rows rows = columns_of(base(columns.base), columns.offset, columns.width);
    for (std::int64_t r = 0; r < rows.count; ++r) kernels::fill(0.0F, {rows[r], at(rows.width)});
  }

 private:
  Location locate(const Base& base, const Saved& saved) const {
    const std::int64_t begin = frame_.begin();
    const std::int64_t count = frame_.count();
    if (base.place == Place::kInput) {
      const GradRows& input = grads_[at(base.number)];
      return input ? location_of(ops::piece_of(input.rows(), begin, count)) : Location();
    }
    if (base.place == Place::kResult)
      return location_of(ops::piece_of(saved.result_gradients[at(base.number)], begin, count));
    if (base.gradient_in_saved) {
      Location location = location_of(writable(ops::piece_of(saved.saved, begin, count)));
      location.data += base.saved;
      return location;
    }
    if (base.deferred >= 0) {
      Location location = location_of(ops::piece_of(saved.deferred, begin, count));
      location.data += base.deferred;
      return location;
    }
    Memory& memory = frame_.memory();
    return frame_.scratch(base.gradient_in_tile, base.gradient_scratch, base.width, memory.tile_gradients,
                          memory.piece_gradients);
  }
  bool stores(std::int32_t id) const {
    return grads_[at(frame_.program().bases()[at(frame_.program().value(id).base)].number)].stores();
  }

  const Frame& frame_;
  const Grads& grads_;
};

void backward_product(const Frame& frame, const Gradients& gradients, const Instruction& instruction) {
  const ops::Weights W = weights_of(frame, instruction);
  const Rows dy = gradients.value(instruction.out);
  // The parts that want a gradient, those in between included, and the columns of x that they are.
  std::array<GradRows, 32> into;
  std::int32_t first = instruction.parts;
  std::int32_t last = 0;
  std::int64_t before = 0;
  std::int64_t width = 0;
  std::int64_t column = 0;
  bool all_store = true;
  bool none_stores = true;
  for (std::int32_t k = 0; k < instruction.parts; ++k) {
    GradRows& part = into[at(k)] = gradients.operand(instruction, at(k));
    const std::int64_t end = column + frame.program().value(instruction.in[at(k)]).width;
    if (part) {
      if (first > k) {
        first = k;
        before = column;
      }
      last = k + 1;
      width = end - before;
      all_store = all_store && part.stores();
      none_stores = none_stores && !part.stores();
    }
    column = end;
  }
  if (last == 0) return;
  for (std::int32_t k = first; k < last; ++k)
    if (!into[at(k)]) all_store = none_stores = false;
  const ops::Weights wanted = W.rows(before, width);
  const auto part = [&](std::int32_t k) { return into[at(first + k)].rows(); };
  if ((all_store || none_stores) && side_by_side(last - first, part)) {
    ops::multiply_by_transposed(dy, wanted, columns_of(part(0), 0, width), none_stores);
    return;
  }
  std::vector<float>& memory = frame.memory().parts;
  memory.resize(std::max(memory.size(), at(frame.count() * width)));
  const Rows dx{memory.data(), frame.count(), width, width, nullptr};
  ops::multiply_by_transposed(dy, wanted, dx, /*accumulate=*/false);
  column = 0;
  for (std::int32_t k = first; k < last; ++k) {
    for (std::int64_t r = 0; into[at(k)] && r < frame.count(); ++r) into[at(k)].add(r, dx[r] + column);
    column += frame.program().value(instruction.in[at(k)]).width;
  }
}

Saved saved_of(const Frame& frame, const Instruction& instruction, const ConstRows& dy) {
  Saved saved;
  saved.in = frame.step_in(instruction);
  saved.y = frame.value(instruction.out);
  saved.saved = frame.saved_of(instruction);
  saved.in_place = instruction.in_place;
  saved.dy = dy;
  return saved;
}

/// Calls add(k, r, gradient) for every operand k of every row r of a ragged op: those of one row may be written in
/// different ways.
template <class Add>
void backward_ragged(const Frame& frame, const Instruction& instruction, const ConstRows& dy, const Add& add) {
  const Saved saved = saved_of(frame, instruction, dy);
  const auto n = static_cast<std::int64_t>(instruction.in.size());
  const std::int64_t width = saved.in[0].width;
  std::vector<float>& memory = frame.memory().parts;
  memory.assign(std::max(memory.size(), at(frame.count() * n * width)), 0.0F);
  const GradRows rows(Rows{memory.data(), frame.count() * n, width, width, nullptr}, /*store=*/true);
  Grads into({&rows, 1});
  instruction.info->backward(instruction.attrs.data(), saved, into);
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t r = 0; r < frame.count(); ++r) add(at(k), r, memory.data() + (r * n + k) * width);
}

/// Gradients of shared inputs are for later.
void backward_op(const Frame& frame, const Gradients& gradients, const Instruction& instruction) {
  const Rows dy = gradients.value(instruction.out);
  std::vector<GradRows>& list = frame.memory().grads;
  list.clear();
  bool any = false;
  for (std::size_t k = 0; k < instruction.in.size(); ++k) {
    list.push_back(gradients.operand(instruction, k));
    any |= static_cast<bool>(list.back());
  }
  if (!any) return;
  if (instruction.info->is_ragged()) {
    backward_ragged(frame, instruction, dy, [&](std::size_t k, std::int64_t r, const float* row) {
      if (list[k]) list[k].add(r, row);
    });
    return;
  }
  Grads into(list);
  instruction.info->backward(instruction.attrs.data(), saved_of(frame, instruction, dy), into);
}

void backward_instruction(const Frame& frame, const Gradients& gradients, const Instruction& instruction,
                          const Saved& saved) {
  for (const Columns& columns : instruction.zeros) gradients.zero(columns);
  if (instruction.is_product())
    backward_product(frame, gradients, instruction);
  else
    backward_op(frame, gradients, instruction);
  // The gradient of a result but the first is the step's: what weights need of it is copied.
  const Value& out = frame.program().value(instruction.out);
  const Base& base = frame.program().bases()[at(out.base)];
  if (base.place != Place::kResult || base.deferred < 0) return;
  const Rows from = gradients.base(out.base);
  const Rows to = columns_of(ops::piece_of(saved.deferred, frame.begin(), frame.count()), base.deferred, base.width);
  for (std::int64_t r = 0; r < frame.count(); ++r) kernels::copy({from[r], at(base.width)}, {to[r], at(base.width)});
}

void backward_piece(Frame& frame, const Gradients& gradients, const Saved& saved) {
  const Program& program = frame.program();
  for (std::size_t g = program.groups().size(); g-- > 0;) {
    const Group& group = program.groups()[g];
    if (group.first == 0 && frame.in().hoisted.data != nullptr) continue;
    frame.open_whole();
    const Instruction& first = program.instructions()[at(group.first)];
    if (first.is_product()) {
      backward_instruction(frame, gradients, first, saved);
      continue;
    }
    for_each_tile(frame, group.tile_rows, [&](std::int64_t row, std::int64_t rows) {
      frame.open_tile(row, rows);
      for (std::int32_t i = group.last - 1; i >= group.first; --i)
        backward_instruction(frame, gradients, program.instructions()[at(i)], saved);
    });
  }
}

}  // namespace

void run_forward(const void* attrs, const StepIn& in, const StepOut& out) {
  const Program& program = program_of(attrs);
  for_each_piece(program, in.rows, [&](std::int64_t begin, std::int64_t count) {
    Memory& memory = Memory::of_thread();
    memory.open(program, /*backward=*/false);
    Frame frame(program, in, out.results, out.saved, memory);
    forward_piece(frame, begin, count);
  });
}

void run_backward(const void* attrs, const Saved& saved, Grads& grads) {
  const Program& program = program_of(attrs);
  for_each_piece(program, saved.in.rows, [&](std::int64_t begin, std::int64_t count) {
    Memory& memory = Memory::of_thread();
    memory.open(program, /*backward=*/true);
    Frame frame(program, saved.in, saved.results, writable(saved.saved), memory);
    for (std::int32_t number : program.zeroed_inputs()) {
      const GradRows& input = grads[at(number)];
      if (!input || !input.stores()) continue;
      for (std::int64_t r = begin; r < begin + count; ++r) kernels::fill(0.0F, {input.rows()[r], at(input.width())});
    }
    frame.open_piece(begin, count);
    backward_piece(frame, Gradients(frame, saved, grads), saved);
  });
}

void run_weight_gradients(const void* attrs, const Saved& saved, Grads& grads) {
  const Program& program = program_of(attrs);
  Memory& memory = Memory::of_thread();
  memory.open(program, /*backward=*/true);
  Frame frame(program, saved.in, saved.results, writable(saved.saved), memory);
  frame.open_all(saved.in.rows);
  // An input that several instructions share is stored by the first of them.
  std::uint32_t written = 0;
  const auto accumulates = [&](std::int32_t input) {
    const std::uint32_t bit = 1U << input;
    const bool again = (written & bit) != 0 || !grads[at(input)].stores();
    written |= bit;
    return again;
  };
  for (const Instruction& instruction : program.instructions()) {
    if (!instruction.any_shared) continue;
    const Value& out = program.value(instruction.out);
    const Base& base = program.bases()[at(out.base)];
    const ConstRows dy = base.gradient_in_saved ? columns_of(writable(saved.saved), base.saved + out.offset, out.width)
                         : base.deferred >= 0   ? columns_of(saved.deferred, base.deferred + out.offset, out.width)
                                                : columns_of(writable(saved.dy), out.offset, out.width);
    if (!instruction.is_product()) {
      std::vector<GradRows>& list = memory.grads;
      list.clear();
      for (std::int32_t id : instruction.in) {
        const Value& operand = program.value(id);
        if (operand.base >= 0 || !grads[at(operand.shared)]) {
          list.emplace_back();
          continue;
        }
        const Rows& rows = grads[at(operand.shared)].rows();
        if (!accumulates(operand.shared)) kernels::fill(0.0F, {rows.data, at(rows.width)});
        list.emplace_back(rows, /*store=*/false);
      }
      if (instruction.info->is_ragged()) {
        backward_ragged(frame, instruction, dy, [&](std::size_t k, std::int64_t, const float* row) {
          if (list[k]) list[k].add(0, row);
        });
        continue;
      }
      Grads into(list);
      instruction.info->backward(instruction.attrs.data(), saved_of(frame, instruction, dy), into);
      continue;
    }
    const Value& W = program.value(instruction.in[at(instruction.parts)]);
    if (const GradRows& dW = grads[at(W.shared)]) {
      const std::int64_t m = W.shape[1];
      const bool accumulate = accumulates(W.shared);
      const auto part = [&](std::int32_t k) { return frame.value(instruction.in[at(k)]); };
      if (side_by_side(instruction.parts, part)) {
        ops::weight_gradient(columns_of(part(0), 0, W.shape[0]), dy, dW.rows().data, m, accumulate);
      } else {
        std::int64_t row = 0;
        for (std::int32_t k = 0; k < instruction.parts; ++k) {
          ops::weight_gradient(part(k), dy, dW.rows().data + row * m, m, accumulate);
          row += part(k).width;
        }
      }
    }
    if (instruction.in.size() == at(instruction.parts) + 1) continue;
    const std::int32_t bias = program.value(instruction.in.back()).shared;
    if (const GradRows& db = grads[at(bias)]) ops::sum_of_rows(dy, db.rows().data, accumulates(bias));
  }
  // One that the function does not use.
  for (std::size_t i = 0; i < saved.in.size(); ++i)
    if (grads[i] && grads[i].stores() && (written >> i & 1U) == 0)
      kernels::fill(0.0F, {grads[i].rows().data, at(grads[i].width())});
}

}  // namespace espalier::cells
