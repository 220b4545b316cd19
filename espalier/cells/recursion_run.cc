// Runs a recursion over the rows of a step: forward by height, backward the other way round.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/base/threads.h"
#include "espalier/cells/recursion_program.h"
#include "espalier/kernels/rows.h"
#include "espalier/ops/product_rows.h"

namespace espalier::cells {
namespace {

/// Rows of one kind and height: `begin` to `end - 1` in the order.
struct Level {
  std::int32_t kind;
  std::int32_t begin;
  std::int32_t end;
};

/// The rows of a step in the order in which their operands and what they keep lie in memory.
struct Order {
  std::vector<std::int32_t> row;         // by place in the order: which row of the step
  std::vector<std::int32_t> first;       // by row: the first row of its node
  std::vector<std::int32_t> first_x;     // by row: the first row of x of its node
  std::vector<std::int32_t> kind_begin;  // by kind, and one more
  std::vector<Level> levels;             // as they run
  bool children_are_shared = false;      // by several rows

  static Order& of_thread() {
    thread_local Order order;
    return order;
  }

  const std::int32_t* fields(const StepIn& in, std::int32_t r) const {
    return reinterpret_cast<const std::int32_t*>(in.fields_data + r * in.fields_stride);
  }

  void find(const CompiledRecursion& compiled, const StepIn& in) {
    const auto kinds = static_cast<std::int32_t>(compiled.kinds().size());
    const auto rows = static_cast<std::int32_t>(in.rows);
    const auto fields = in.fields_stride / static_cast<std::int64_t>(sizeof(std::int32_t));
    const auto* const all = reinterpret_cast<const std::int32_t*>(in.fields_data);
    counts_.assign(at(kinds), 0);
    std::int32_t heights = 1;
    first.resize(at(rows));
    first_x.resize(at(rows));
    for (std::int64_t node = 0; node < in.nodes; ++node)
      for (std::int64_t r = in.node_begin[node]; r < in.node_begin[node + 1]; ++r) {
        const std::int32_t* const field = all + r * fields;
        while (field[RowField::kHeight] >= heights) {
          ++heights;
          counts_.resize(at(heights * kinds), 0);
        }
        ++counts_[at(field[RowField::kHeight] * kinds + field[RowField::kKind])];
        first[at(r)] = static_cast<std::int32_t>(in.node_begin[node]);
        first_x[at(r)] = static_cast<std::int32_t>(in.operand_begin[node]);
      }
    kind_begin.resize(at(kinds) + 1);
    std::int32_t next = 0;
    begins_.resize(counts_.size());
    for (std::int32_t kind = 0; kind < kinds; ++kind) {
      kind_begin[at(kind)] = next;
      for (auto level = at(kind); level < counts_.size(); level += at(kinds)) {
        begins_[level] = next;
        next += counts_[level];
      }
    }
    kind_begin[at(kinds)] = next;
    levels.clear();
    for (std::size_t level = 0; level < counts_.size(); ++level)
      if (counts_[level] > 0)
        levels.push_back({static_cast<std::int32_t>(level) % kinds, begins_[level], begins_[level] + counts_[level]});
    row.resize(at(rows));
    for (std::int32_t r = 0; r < rows; ++r) {
      const std::int32_t* const field = all + r * fields;
      row[at(begins_[at(field[RowField::kHeight] * kinds + field[RowField::kKind])]++)] = r;
    }
  }

  /// Whether some row is the child of several, or of one twice.
  bool shares_children(const CompiledRecursion& compiled, const StepIn& in) {
    is_child_.assign(at(in.rows), 0);
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(in.rows); ++r)
      for (std::int32_t c = 0; c < compiled.most_children(); ++c) {
        const std::int32_t child = fields(in, r)[RowField::kFirstChild + c];
        if (child < 0) break;
        if (std::exchange(is_child_[at(first[at(r)] + child)], 1) != 0) return true;
      }
    return false;
  }

 private:
  std::vector<std::int32_t> counts_;  // by height and kind
  std::vector<std::int32_t> begins_;
  std::vector<std::uint8_t> is_child_;
};

/// Memory of a thread for the step it runs.
struct Memory {
  std::vector<float> kept;           // where nothing is left for backward
  std::vector<std::int64_t> places;  // by kind: floats before its operands
  std::vector<ConstRows> inputs;
  std::vector<const Parameter*> parameters;
  std::vector<Rows> results;
  std::vector<Rows> result_gradients;
  std::vector<GradRows> grads;
  std::vector<std::vector<std::int64_t>> offsets;

  static Memory& of_thread() {
    thread_local Memory memory;
    return memory;
  }
};

/// The rows of one kind from place `begin` to `end - 1`, as its program wants them.
class Part {
 public:
  /// `saved` is where what forward leaves lies, or null.
  Part(const CompiledRecursion& compiled, const StepIn& in, std::span<const Rows> states, float* saved,
       const Order& order, Memory& memory)
      : compiled_(compiled), in_(in), states_(states), saved_(saved), order_(order), memory_(memory) {
    // Kind after kind: the operands of all its rows, then what its program leaves.
    const std::span<const RecursionProgram> kinds = compiled.kinds();
    std::int64_t next = 0;
    memory.places.clear();
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const std::int64_t rows = order.kind_begin[k + 1] - order.kind_begin[k];
      memory.places.push_back(next);
      next += rows * (kinds[k].operands + (saved != nullptr   ? kinds[k].saved
                                           : kinds[k].hoists ? kinds[k].program->hoisted_width()
                                                             : 0));
    }
    if (saved != nullptr) return;
    if (memory.kept.size() < at(next)) memory.kept.resize(at(next));
  }

  void open(std::int32_t kind, std::int32_t begin, std::int32_t end) {
    kind_ = kind;
    begin_ = begin;
    end_ = end;
    lists_ = 0;
  }
  const RecursionProgram& program() const { return compiled_.kinds()[at(kind_)]; }
  std::int64_t count() const { return end_ - begin_; }

  /// What is multiplied together, side by side.
  float* operands() const { return kept() + (begin_ - order_.kind_begin[at(kind_)]) * program().operands; }
  Rows saved() const {
    if (saved_ == nullptr || program().saved == 0) return {};
    return behind_operands(program().saved);
  }
  /// What the product of x gives, which is among what is left where anything is.
  Rows hoisted() const {
    if (!program().hoists) return {};
    const Program& of = *program().program;
    if (saved_ == nullptr) return behind_operands(of.hoisted_width());
    Rows rows = saved();
    rows.data += of.hoisted_column();
    rows.width = of.hoisted_width();
    return rows;
  }
  /// The rows of the step that these are of `rows`.
  template <class T>
  BasicRows<T> of_rows(const BasicRows<T>& rows) {
    return listed(rows, [&](std::int32_t r) { return r; });
  }
  /// Those that an input of the program reads of x, or of its part of the states.
  template <class T>
  BasicRows<T> of_input(const RecursionInput& input, const BasicRows<T>& rows) {
    return listed(rows, [&](std::int32_t r) { return read_by(input, r); });
  }
  std::int32_t read_by(const RecursionInput& input, std::int32_t r) const {
    const std::int32_t* const field = order_.fields(in_, r);
    if (input.child == RecursionInput::kX) return order_.first_x[at(r)] + field[RowField::kX];
    return order_.first[at(r)] + field[RowField::kFirstChild + input.child];
  }
  std::int32_t row(std::int32_t place) const { return order_.row[at(place)]; }
  std::int32_t begin() const { return begin_; }
  std::int32_t end() const { return end_; }

  /// The inputs of the program, and its parameters.
  StepIn step() {
    const RecursionProgram& kind = program();
    memory_.inputs.clear();
    memory_.parameters.clear();
    for (const RecursionInput& input : kind.inputs) {
      if (input.column >= 0)
        memory_.inputs.push_back({operands() + input.column, count(), input.width, kind.operands, nullptr});
      else
        memory_.inputs.push_back(of_input(input, source(input)));
      memory_.parameters.push_back(nullptr);
    }
    for (const std::size_t parameter : kind.parameters) {
      ConstRows rows = in_[parameter];
      rows.count = count();
      memory_.inputs.push_back(rows);
      memory_.parameters.push_back(in_.parameter(parameter));
    }
    StepIn step;
    step.rows = count();
    step.inputs = memory_.inputs;
    step.parameters = memory_.parameters;
    step.out = &kind.program->result_shape(0);
    step.use = in_.use;
    step.hoisted = hoisted();
    step.use.rows_to_come = order_.kind_begin[at(kind_) + 1] - order_.kind_begin[at(kind_)];
    return step;
  }
  std::span<const Rows> results() {
    memory_.results.clear();
    for (const Rows& rows : states_) memory_.results.push_back(of_rows(rows));
    return memory_.results;
  }
  /// Brings side by side what is multiplied together.
  void gather() {
    for (const RecursionInput& input : program().inputs) {
      if (input.column < 0) continue;
      const ConstRows from = source(input);
      float* to = operands() + input.column;
      const auto bytes = at(input.width) * sizeof(float);
      for (std::int32_t place = begin_; place < end_; ++place, to += program().operands)
        std::memcpy(to, from[read_by(input, row(place))], bytes);
    }
  }
  ConstRows source(const RecursionInput& input) const {
    return input.child == RecursionInput::kX ? in_[0] : ConstRows(states_[at(input.part)]);
  }

 private:
  Rows behind_operands(std::int64_t width) const {
    const std::int32_t first = order_.kind_begin[at(kind_)];
    float* const begin = kept() + (order_.kind_begin[at(kind_) + 1] - first) * program().operands;
    return {begin + (begin_ - first) * width, count(), width, width, nullptr};
  }
  float* kept() const { return (saved_ != nullptr ? saved_ : memory_.kept.data()) + memory_.places[at(kind_)]; }

  /// Rows which(r) of `rows` for each row r at hand: as offsets, unless they are evenly spaced.
  template <class T, class Which>
  BasicRows<T> listed(const BasicRows<T>& rows, const Which& which) {
    T* const first = rows[which(row(begin_))];
    if (count() == 1) return {first, 1, rows.width, rows.width, nullptr};
    if (memory_.offsets.size() == lists_) memory_.offsets.emplace_back();
    std::vector<std::int64_t>& offsets = memory_.offsets[lists_++];
    offsets.resize(at(count()));
    const std::int64_t stride = rows[which(row(begin_ + 1))] - first;
    bool is_even = stride >= rows.width && stride > 0;
    for (std::int32_t place = begin_; place < end_; ++place) {
      const std::int64_t offset = rows[which(row(place))] - first;
      is_even = is_even && offset == (place - begin_) * stride;
      offsets[at(place - begin_)] = offset;
    }
    if (is_even) return {first, count(), rows.width, stride, nullptr};
    return {first, count(), rows.width, rows.width, offsets.data()};
  }

  const CompiledRecursion& compiled_;
  const StepIn& in_;
  std::span<const Rows> states_;
  float* saved_;
  const Order& order_;
  Memory& memory_;
  std::int32_t kind_ = 0;
  std::int32_t begin_ = 0;
  std::int32_t end_ = 0;
  std::size_t lists_ = 0;  // of offsets that are taken
};

float* writable(const ConstRows& rows) { return const_cast<float*>(rows.data); }

/// What backward leaves for the gradients of a kind's weights, of rows from place `begin` on.
Rows deferred_of(const CompiledRecursion& compiled, const Order& order, const Rows& deferred, std::int32_t kind,
                 std::int32_t begin, std::int64_t count) {
  const std::span<const RecursionProgram> kinds = compiled.kinds();
  const std::int64_t width = kinds[at(kind)].deferred;
  if (width == 0) return {};
  std::int64_t before = 0;
  for (std::int32_t k = 0; k < kind; ++k)
    before += (order.kind_begin[at(k) + 1] - order.kind_begin[at(k)]) * kinds[at(k)].deferred;
  return {deferred.data + before + (begin - order.kind_begin[at(kind)]) * width, count, width, width, nullptr};
}

/// The gradients of x: stored row by row where each is read once, and else added to zeros.
class GradientOfX {
 public:
  GradientOfX(const CompiledRecursion& compiled, const StepIn& in, const Order& order, const GradRows& grads)
      : grads_(grads) {
    if (!grads || !grads.stores()) return;
    const std::int64_t rows = grads.rows().count;
    thread_local std::vector<std::uint8_t> is_read;
    is_read.assign(at(rows), 0);
    std::int64_t reads = 0;
    std::int64_t distinct = 0;
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(in.rows); ++r) {
      const std::int32_t* const field = order.fields(in, r);
      const std::vector<RecursionInput>& inputs = compiled.kinds()[at(field[RowField::kKind])].inputs;
      if (inputs.empty() || inputs[0].child != RecursionInput::kX) continue;
      ++reads;
      distinct += std::exchange(is_read[at(order.first_x[at(r)] + field[RowField::kX])], 1) == 0 ? 1 : 0;
    }
    if (reads == distinct && distinct == rows) return;
    for (std::int64_t r = 0; r < rows; ++r) kernels::fill(0.0F, {grads.rows()[r], at(grads.width())});
    grads_ = GradRows(grads.rows(), /*store=*/false);
    is_shared_ = reads > distinct;
  }

  const GradRows& grads() const { return grads_; }
  bool is_shared() const { return is_shared_; }

 private:
  GradRows grads_;
  bool is_shared_ = false;
};

/// Calls f(kind) for the kinds whose product of x runs for all rows together, which are opened.
template <class F>
void for_hoisting(const CompiledRecursion& compiled, const Order& order, Part& part, const F& f) {
  for (std::size_t k = 0; k < compiled.kinds().size(); ++k) {
    if (!compiled.kinds()[k].hoists || order.kind_begin[k] == order.kind_begin[k + 1]) continue;
    part.open(static_cast<std::int32_t>(k), order.kind_begin[k], order.kind_begin[k + 1]);
    f(compiled.kinds()[k]);
  }
}

}  // namespace

void run_recursion(const void* attrs, const StepIn& in, const StepOut& out) {
  const CompiledRecursion& compiled = recursion_of(attrs);
  Order& order = Order::of_thread();
  order.find(compiled, in);
  Part part(compiled, in, out.results, out.saved.data, order, Memory::of_thread());
  for_hoisting(compiled, order, part, [&](const RecursionProgram& kind) {
    multiply_hoisted(*kind.program, part.step());
  });
  for (const Level& level : order.levels) {
    part.open(level.kind, level.begin, level.end);
    part.gather();
    const Program* const program = part.program().program.get();
    const StepIn step = part.step();
    const std::span<const Rows> results = part.results();
    program->info().forward(&program, step, {.y = results[0], .saved = part.saved(), .results = results});
  }
}

void run_recursion_backward(const void* attrs, const Saved& saved, Grads& grads) {
  const CompiledRecursion& compiled = recursion_of(attrs);
  Order& order = Order::of_thread();
  order.find(compiled, saved.in);
  const GradientOfX of_x(compiled, saved.in, order, grads[0]);
  const OneThread one(of_x.is_shared() || order.shares_children(compiled, saved.in));
  Memory& memory = Memory::of_thread();
  Part part(compiled, saved.in, saved.results, writable(saved.saved), order, memory);
  for (std::size_t i = order.levels.size(); i-- > 0;) {
    const Level& level = order.levels[i];
    part.open(level.kind, level.begin, level.end);
    const RecursionProgram& kind = part.program();
    const Program* const program = kind.program.get();
    Saved of_level;
    of_level.in = part.step();
    of_level.in.use.training = true;
    of_level.results = part.results();
    of_level.y = of_level.results[0];
    of_level.saved = part.saved();
    memory.result_gradients.clear();
    for (const Rows& rows : saved.result_gradients) memory.result_gradients.push_back(part.of_rows(rows));
    of_level.result_gradients = memory.result_gradients;
    of_level.dy = memory.result_gradients[0];
    of_level.deferred = deferred_of(compiled, order, saved.deferred, level.kind, level.begin, part.count());
    // All parents of a row are done when its turn comes: until then they add to its gradient, which is there.
    memory.grads.clear();
    for (const RecursionInput& input : kind.inputs) {
      if (input.child != RecursionInput::kX)
        memory.grads.emplace_back(part.of_input(input, saved.result_gradients[at(input.part)]), /*store=*/false);
      else if (of_x.grads())
        memory.grads.emplace_back(part.of_input(input, of_x.grads().rows()), of_x.grads().stores());
      else
        memory.grads.emplace_back();
    }
    memory.grads.resize(memory.grads.size() + kind.parameters.size());
    Grads into(memory.grads);
    program->info().backward(&program, of_level, into);
  }
  if (!of_x.grads()) return;
  for_hoisting(compiled, order, part, [&](const RecursionProgram& kind) {
    const GradRows dx(part.of_input(kind.inputs[0], of_x.grads().rows()), of_x.grads().stores());
    multiply_hoisted_backward(*kind.program, part.step(), part.hoisted(), dx);
  });
}

void run_recursion_weight_gradients(const void* attrs, const Saved& saved, Grads& grads) {
  const CompiledRecursion& compiled = recursion_of(attrs);
  Order& order = Order::of_thread();
  order.find(compiled, saved.in);
  Memory& memory = Memory::of_thread();
  Part part(compiled, saved.in, saved.results, writable(saved.saved), order, memory);
  std::uint64_t written = 0;
  for (std::size_t k = 0; k < compiled.kinds().size(); ++k) {
    const RecursionProgram& kind = compiled.kinds()[k];
    if (order.kind_begin[k] == order.kind_begin[k + 1]) continue;
    const auto number = static_cast<std::int32_t>(k);
    part.open(number, order.kind_begin[k], order.kind_begin[k + 1]);
    Saved of_kind;
    of_kind.in = part.step();
    of_kind.in.use.training = true;
    of_kind.results = part.results();
    of_kind.y = of_kind.results[0];
    of_kind.saved = part.saved();
    of_kind.dy = part.of_rows(saved.dy);
    of_kind.deferred = deferred_of(compiled, order, saved.deferred, number, part.begin(), part.count());
    memory.grads.assign(kind.inputs.size(), {});
    for (const std::size_t parameter : kind.parameters) {
      const GradRows& target = grads[parameter];
      const bool is_first = (written >> parameter & 1U) == 0;
      written |= std::uint64_t{1} << parameter;
      memory.grads.push_back(target ? GradRows(target.rows(), target.stores() && is_first) : GradRows());
    }
    Grads into(memory.grads);
    const Program* const program = kind.program.get();
    program->info().weight_gradients(&program, of_kind, into);
  }
  for (std::size_t i = 1; i < saved.in.size(); ++i)
    if (grads[i] && grads[i].stores() && (written >> i & 1U) == 0)
      kernels::fill(0.0F, {grads[i].rows().data, at(grads[i].width())});
}

}  // namespace espalier::cells
