// Runs a program backward: the gradients of its inputs, row by row, and those of its weights over all rows.
#include <algorithm>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/cells/frame.h"
#include "espalier/cells/program_run.h"
#include "espalier/kernels/row_sum.h"
#include "espalier/kernels/rows.h"
#include "espalier/ops/product_rows.h"

namespace espalier::cells {
namespace {

void fill_with_zeros(const Rows& rows) {
  for (std::int64_t r = 0; r < rows.count; ++r) kernels::fill(0.0F, {rows[r], at(rows.width)});
}

void backward_product(const Frame& frame, const Instruction& instruction) {
  const ops::Weights W = frame.weights_of(instruction);
  const Rows dy = frame.result_gradient(instruction);
  // The parts that want a gradient, those in between included, and the columns of x that they are.
  std::vector<GradRows>& into = frame.memory().grads;
  into.resize(at(instruction.parts));
  std::int32_t first = instruction.parts;
  std::int32_t last = 0;
  std::int64_t before = 0;
  std::int64_t width = 0;
  std::int64_t column = 0;
  bool all_store = true;
  bool none_stores = true;
  for (std::int32_t k = 0; k < instruction.parts; ++k) {
    GradRows& part = into[at(k)] = frame.operand_gradient(instruction, at(k));
    const std::int64_t end = column + frame.program().place(instruction.number_of(at(k))).width;
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
  const Rows dx{frame.memory().room_for_parts(frame.count() * width), frame.count(), width, width, nullptr};
  ops::multiply_by_transposed(dy, wanted, dx, /*accumulate=*/false);
  column = 0;
  for (std::int32_t k = first; k < last; ++k) {
    for (std::int64_t r = 0; into[at(k)] && r < frame.count(); ++r) into[at(k)].add(r, dx[r] + column);
    column += frame.program().place(instruction.number_of(at(k))).width;
  }
}

Saved saved_of(const Frame& frame, const Instruction& instruction, const ConstRows& dy) {
  Saved saved;
  saved.in = frame.step_in(instruction);
  saved.y = frame.result(instruction);
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
  const std::int64_t n = instruction.operands;
  const std::int64_t width = saved.in[0].width;
  const std::int64_t floats = frame.count() * n * width;
  float* const memory = frame.memory().room_for_parts(floats);
  std::fill_n(memory, floats, 0.0F);
  const GradRows rows(Rows{memory, frame.count() * n, width, width, nullptr}, /*store=*/true);
  Grads into({&rows, 1});
  instruction.info->backward(instruction.attrs.data(), saved, into);
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t r = 0; r < frame.count(); ++r) add(at(k), r, memory + (r * n + k) * width);
}

/// Gradients of shared inputs are for later.
void backward_op(const Frame& frame, const Instruction& instruction) {
  const Rows dy = frame.result_gradient(instruction);
  std::vector<GradRows>& list = frame.memory().grads;
  list.resize(at(instruction.operands));
  bool any = false;
  for (std::size_t k = 0; k < list.size(); ++k) {
    list[k] = frame.operand_gradient(instruction, k);
    any |= static_cast<bool>(list[k]);
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

void backward_instruction(const Frame& frame, const Instruction& instruction) {
  for (const Columns& columns : instruction.zeros) fill_with_zeros(frame.gradient_of(columns));
  if (!instruction.is_product())
    backward_op(frame, instruction);
  else if (frame.begin() >= frame.run().rows_of_zeros(instruction))  // nobody reads the gradients of those
    backward_product(frame, instruction);
  if (!instruction.defers_result) return;
  const Value& out = frame.program().value(instruction.out);
  const Base& base = frame.program().bases()[at(out.base)];
  const Rows from = frame.gradient_of({out.base, 0, base.width});
  const Rows to =
      frame.rows_at(frame.run().deferred().columns(base.deferred, base.width), 0, base.width, frame.memory().gradients);
  for (std::int64_t r = 0; r < frame.count(); ++r) kernels::copy({from[r], at(base.width)}, {to[r], at(base.width)});
}

void backward_piece(Frame& frame, std::int64_t begin, std::int64_t count) {
  const Program& program = frame.program();
  for (std::int32_t number : program.zeroed_inputs()) {
    const GradRows& input = frame.run().grads()[at(number)];
    if (!input || !input.stores()) continue;
    for (std::int64_t r = begin; r < begin + count; ++r) kernels::fill(0.0F, {input.rows()[r], at(input.width())});
  }
  frame.open_piece(begin, count);
  for (std::size_t g = program.groups().size(); g-- > 0;) {
    const Group& group = program.groups()[g];
    if (group.first == 0 && frame.run().in().hoisted.data != nullptr) continue;
    frame.open_whole();
    const Instruction& first = program.instructions()[at(group.first)];
    if (first.is_product()) {
      backward_instruction(frame, first);
      continue;
    }
    for_each_tile(frame, group.tile_rows, [&](std::int64_t row, std::int64_t rows) {
      frame.open_tile(row, rows);
      for (std::int32_t i = group.last - 1; i >= group.first; --i)
        backward_instruction(frame, program.instructions()[at(i)]);
    });
  }
}

/// The gradients of shared inputs. One that several instructions share is stored by the first of them.
class WeightGradients {
 public:
  WeightGradients(const ProgramRun& run, const ConstRows& dy, const Kept& deferred, const Grads& grads,
                  const HoistedRows& hoisted)
      : run_(run), dy_(dy), deferred_(deferred), grads_(grads), hoisted_(hoisted), frame_(run, /*backward=*/true) {
    frame_.open_all();
  }

  void add_all() {
    for (const Instruction& instruction : run_.program().instructions()) {
      if (!instruction.any_shared) continue;
      if (instruction.is_product())
        add_of_product(instruction);
      else
        add_of_op(instruction);
    }
    // One that the function does not use.
    for (std::size_t i = 0; i < run_.in().size(); ++i)
      if (grads_[i] && grads_[i].stores() && (written_ >> i & 1U) == 0)
        kernels::fill(0.0F, {grads_[i].rows().data, at(grads_[i].width())});
  }

 private:
  /// Whether the gradient of an input is added to, from here on.
  bool accumulates(std::int32_t input) {
    const std::uint64_t bit = std::uint64_t{1} << input;
    const bool again = (written_ & bit) != 0 || !grads_[at(input)].stores();
    written_ |= bit;
    return again;
  }
  /// The gradient of what an instruction gives.
  ConstRows gradient_of_result(const Instruction& instruction) const {
    const Value& out = run_.program().value(instruction.out);
    const Base& base = run_.program().bases()[at(out.base)];
    if (!base.gradient_in_saved && base.deferred < 0) return columns_of(writable(dy_), out.offset, out.width);
    const Location location = base.gradient_in_saved ? run_.saved().columns(base.saved, base.width)
                                                     : deferred_.columns(base.deferred, base.width);
    return frame_.rows_at(location, out.offset, out.width, frame_.memory().gradients);
  }
  void add_of_op(const Instruction& instruction) {
    const ConstRows dy = gradient_of_result(instruction);
    std::vector<GradRows>& list = frame_.memory().grads;
    list.clear();
    for (std::int32_t id : instruction.in) {
      const Value& operand = run_.program().value(id);
      if (operand.base >= 0 || !grads_[at(operand.shared)]) {
        list.emplace_back();
        continue;
      }
      const Rows& rows = grads_[at(operand.shared)].rows();
      if (!accumulates(operand.shared)) kernels::fill(0.0F, {rows.data, at(rows.width)});
      list.emplace_back(rows, /*store=*/false);
    }
    if (instruction.info->is_ragged()) {
      backward_ragged(frame_, instruction, dy, [&](std::size_t k, std::int64_t, const float* row) {
        if (list[k]) list[k].add(0, row);
      });
      return;
    }
    Grads into(list);
    instruction.info->backward(instruction.attrs.data(), saved_of(frame_, instruction, dy), into);
  }
  void add_of_product(const Instruction& instruction) {
    const std::int64_t zeros = run_.rows_of_zeros(instruction);
    const auto behind_zeros = [&](const ConstRows& rows) { return ops::piece_of(rows, zeros, rows.count - zeros); };
    const bool is_hoisted = hoisted_.x.data != nullptr && &instruction == run_.program().instructions().data();
    const ConstRows dy = is_hoisted ? hoisted_.dy : behind_zeros(gradient_of_result(instruction));
    float* db = bias_gradient(instruction);
    const Value& W = run_.program().value(instruction.in[at(instruction.parts)]);
    if (const GradRows& dW = grads_[at(W.shared)]) {
      const std::int64_t m = W.shape[1];
      const bool accumulate = accumulates(W.shared);
      const auto part = [&](std::int32_t k) {
        return writable(is_hoisted ? hoisted_.x : behind_zeros(frame_.operand(instruction, at(k))));
      };
      if (dy.count == 0) {
        if (!accumulate) kernels::fill(0.0F, {dW.rows().data, at(W.shape.elements())});
        return;
      }
      if (side_by_side(instruction.parts, part)) {
        ops::weight_gradient(columns_of(part(0), 0, W.shape[0]), dy, dW.rows().data, m, accumulate, db);
        return;
      }
      std::int64_t row = 0;
      for (std::int32_t k = 0; k < instruction.parts; ++k) {
        ops::weight_gradient(part(k), dy, dW.rows().data + row * m, m, accumulate);
        row += part(k).width;
      }
    }
    if (db != nullptr) kernels::add_rows(dy, db);
  }
  /// Where the gradient of a product's bias is added; null where there is none.
  float* bias_gradient(const Instruction& instruction) {
    if (instruction.operands == instruction.parts + 1) return nullptr;
    const std::int32_t bias = run_.program().value(instruction.in.back()).shared;
    const GradRows& db = grads_[at(bias)];
    if (!db) return nullptr;
    if (!accumulates(bias)) kernels::fill(0.0F, {db.rows().data, at(db.width())});
    return db.rows().data;
  }

  const ProgramRun& run_;
  const ConstRows& dy_;
  const Kept& deferred_;
  const Grads& grads_;
  const HoistedRows& hoisted_;
  Frame frame_;
  std::uint64_t written_ = 0;
};

}  // namespace

void ProgramRun::backward(std::int64_t begin, std::int64_t count) const {
  for_each_piece(*program_, begin, count, [&](std::int64_t from, std::int64_t rows) {
    Frame frame(*this, /*backward=*/true);
    backward_piece(frame, from, rows);
  });
}

void ProgramRun::weight_gradients(const ConstRows& dy, const Kept& deferred, const Grads& grads,
                                  const HoistedRows& hoisted) const {
  WeightGradients(*this, dy, deferred, grads, hoisted).add_all();
}

}  // namespace espalier::cells
