// Finds where the values of a program are, and runs it forward.
#include "espalier/cells/program_run.h"

#include <algorithm>

#include "espalier/base/at.h"
#include "espalier/cells/frame.h"
#include "espalier/kernels/rows.h"

namespace espalier::cells {
namespace {

Location location_of(const Rows& rows) { return {rows.data, rows.stride, rows.offsets}; }

/// Memory of the thread: so many floats a row before it.
Location scratch(const Program& program, bool in_tile, std::int64_t before, std::int64_t width) {
  if (in_tile) return {nullptr, width, nullptr, Location::In::kTile, before * program.tile_rows()};
  return {nullptr, width, nullptr, Location::In::kPiece, before * kPieceRows};
}

/// Parts as one matrix: where they lie, or copied beside each other.
ConstRows joined(const Frame& frame, const Instruction& instruction, std::int64_t width) {
  if (instruction.parts == 1) return frame.operand(instruction, 0);
  const auto part = [&](std::int32_t k) { return frame.operand(instruction, at(k)); };
  if (side_by_side(instruction.parts, part)) return columns_of(part(0), 0, width);
  float* const memory = frame.memory().room_for_parts(frame.count() * width);
  std::int64_t column = 0;
  for (std::int32_t k = 0; k < instruction.parts; ++k) {
    const Rows rows = part(k);
    for (std::int64_t r = 0; r < frame.count(); ++r)
      kernels::copy({rows[r], at(rows.width)}, {memory + r * width + column, at(rows.width)});
    column += rows.width;
  }
  return {memory, frame.count(), width, width, nullptr};
}

void forward_product(const Frame& frame, const Instruction& instruction) {
  const ops::Weights W = frame.weights_of(instruction);
  const bool has_bias = instruction.operands > instruction.parts + 1;
  const float* bias = has_bias ? frame.operand(instruction, at(instruction.parts) + 1).data : nullptr;
  ops::multiply_by_weights(joined(frame, instruction, W.k), W, bias, frame.result(instruction), instruction.accumulates,
                           instruction.then_relu);
}

void forward_op(const Frame& frame, const Instruction& instruction) {
  StepOut out;
  out.y = frame.result(instruction);
  out.saved = frame.saved_of(instruction);
  out.in_place = instruction.in_place && !frame.run().saved().is_none();
  const bool needs_place = instruction.saved_floats > 0 && instruction.info->overwrites == nullptr;
  if (needs_place && out.saved.data == nullptr)  // one for all rows
    out.saved = {frame.memory().room_for_parts(instruction.saved_floats), frame.count(), instruction.saved_floats, 0,
                 nullptr};
  instruction.info->forward(instruction.attrs.data(), frame.step_in(instruction), out);
}

/// Whether a product does nothing but add, and multiplies nothing but inputs that are zeros.
bool adds_zeros(const Program& program, const Instruction& product, std::uint64_t zero_inputs) {
  const bool has_bias = product.operands > product.parts + 1;
  if (!product.accumulates || product.then_relu || has_bias) return false;
  for (std::int32_t k = 0; k < product.parts; ++k) {
    const Base& base = program.bases()[at(program.place(product.number_of(at(k))).base)];
    if (base.place != Place::kInput || (zero_inputs >> base.number & 1U) == 0) return false;
  }
  return true;
}

void forward_piece(Frame& frame, std::int64_t begin, std::int64_t count) {
  const Program& program = frame.program();
  frame.open_piece(begin, count);
  for (const Group& group : program.groups()) {
    if (group.first == 0 && frame.run().in().hoisted.data != nullptr) continue;
    frame.open_whole();
    const Instruction& first = program.instructions()[at(group.first)];
    if (first.is_product()) {
      if (begin >= frame.run().rows_of_zeros(first)) forward_product(frame, first);
      continue;
    }
    if (first.is_done && group.last == group.first + 1) continue;
    for_each_tile(frame, group.tile_rows, [&](std::int64_t row, std::int64_t rows) {
      frame.open_tile(row, rows);
      for (std::int32_t i = group.first; i < group.last; ++i)
        if (const Instruction& each = program.instructions()[at(i)]; !each.is_done) forward_op(frame, each);
    });
  }
}

}  // namespace

void ProgramRun::open(const Program& program, const StepIn& in, std::span<const Rows> results, const Kept& saved,
                      const ZeroInputs& zeros) {
  program_ = &program;
  in_ = in;
  saved_ = saved;
  zeros_ = zeros;
  const auto locate = [&](const Base& base) {
    if (base.place == Place::kInput) return location_of(writable(in.inputs[at(base.number)]));
    if (base.place == Place::kResult) return location_of(results[at(base.number)]);
    if (base.saved >= 0 && !saved.is_none()) return saved.columns(base.saved, base.width);
    return scratch(program, base.in_tile, base.scratch, base.width);
  };
  const std::span<const Base> bases = program.bases();
  values_.resize(bases.size());
  for (std::size_t b = 0; b < bases.size(); ++b) values_[b] = locate(bases[b]);
  if (in.hoisted.data != nullptr) values_[at(program.hoisted_base())] = location_of(in.hoisted);
}

void ProgramRun::open_gradients(std::span<const Rows> result_gradients, const Kept& deferred, const Grads& grads) {
  deferred_ = deferred;
  grads_ = grads;
  const auto locate = [&](const Base& base) {
    if (base.place == Place::kInput) {
      const GradRows& input = grads[at(base.number)];
      return input ? location_of(input.rows()) : Location();
    }
    if (base.place == Place::kResult) return location_of(result_gradients[at(base.number)]);
    if (base.gradient_in_saved) return saved_.columns(base.saved, base.width);
    if (base.deferred >= 0) return deferred.columns(base.deferred, base.width);
    return scratch(*program_, base.gradient_in_tile, base.gradient_scratch, base.width);
  };
  const std::span<const Base> bases = program_->bases();
  gradients_.resize(bases.size());
  for (std::size_t b = 0; b < bases.size(); ++b) gradients_[b] = locate(bases[b]);
}

std::int64_t ProgramRun::rows_of_zeros(const Instruction& product) const {
  return zeros_.rows > 0 && adds_zeros(*program_, product, zeros_.inputs) ? zeros_.rows : 0;
}

void ProgramRun::forward(std::int64_t begin, std::int64_t count) const {
  for_each_piece(*program_, begin, count, [&](std::int64_t from, std::int64_t rows) {
    Frame frame(*this, /*backward=*/false);
    forward_piece(frame, from, rows);
  });
}

// --- the functions of a program's op ---------------------------------------------------------------------------------

namespace {

/// Of the step that a thread runs. Programs do not run each other.
ProgramRun& run_of_thread() {
  thread_local ProgramRun run;
  return run;
}

}  // namespace

void run_forward(const void* attrs, const StepIn& in, const StepOut& out) {
  ProgramRun& run = run_of_thread();
  run.open(program_of(attrs), in, out.results, {out.saved}, {in.rows, in.zero_inputs});
  run.forward(0, in.rows);
}

void run_backward(const void* attrs, const Saved& saved, Grads& grads) {
  ProgramRun& run = run_of_thread();
  run.open(program_of(attrs), saved.in, saved.results, {writable(saved.saved)});
  run.open_gradients(saved.result_gradients, {saved.deferred}, grads);
  run.backward(0, saved.in.rows);
}

void run_weight_gradients(const void* attrs, const Saved& saved, Grads& grads) {
  ProgramRun& run = run_of_thread();
  run.open(program_of(attrs), saved.in, saved.results, {writable(saved.saved)});
  run.weight_gradients(saved.dy, {saved.deferred}, grads);
}

bool moves_shared_inputs(const void* attrs, const StepIn& in) {
  if (in.zero_inputs == 0) return true;
  const Program& program = program_of(attrs);
  return std::any_of(program.instructions().begin(), program.instructions().end(), [&](const Instruction& each) {
    return each.any_shared && !(each.is_product() && adds_zeros(program, each, in.zero_inputs));
  });
}

}  // namespace espalier::cells
