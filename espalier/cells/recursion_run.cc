// Runs a recursion over the rows of a step: forward by height, backward the other way round.
#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
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
        if (child < 0) continue;
        if (std::exchange(is_child_[at(first[at(r)] + child)], 1) != 0) return true;
      }
    return false;
  }

 private:
  std::vector<std::int32_t> counts_;  // by height and kind
  std::vector<std::int32_t> begins_;
  std::vector<std::uint8_t> is_child_;
};

/// Rows `begin` to `begin + count - 1`. A single one needs no offset.
template <class T>
BasicRows<T> piece(const BasicRows<T>& rows, std::int64_t begin, std::int64_t count) {
  if (count == 1) return {rows[begin], 1, rows.width, std::max(rows.stride, rows.width), nullptr};
  return ops::piece_of(rows, begin, count);
}

/// All rows of one kind, in their order, as its program wants them.
struct KindRows {
  std::int32_t begin = 0;
  std::int64_t count = 0;
  float* operands = nullptr;      // what is multiplied together, side by side
  Rows saved;                     // what the program leaves for its backward
  Rows hoisted;                   // what its product of x gives
  Rows deferred;                  // what its backward leaves for the gradients of weights
  std::vector<ConstRows> inputs;  // of the program, then its parameters
  std::vector<const Parameter*> parameters;
  std::vector<Rows> states;
  std::vector<Rows> state_gradients;
  std::vector<GradRows> grads;  // of the inputs
  std::vector<std::vector<std::int64_t>> offsets;
  std::size_t lists = 0;                   // of offsets that are taken
  std::vector<std::vector<float>> unread;  // beside offsets: the gradients of children that are missing
};

/// Memory of a thread for the step it runs.
struct StepMemory {
  std::vector<KindRows> kinds;
  std::vector<float> kept;   // operands, where nothing is left for backward
  std::vector<float> zeros;  // the state of a child that is missing; never written
  // Of a call of a program.
  std::vector<ConstRows> inputs;
  std::vector<Rows> results;
  std::vector<Rows> result_gradients;
  std::vector<GradRows> grads;

  static StepMemory& of_thread() {
    thread_local StepMemory memory;
    return memory;
  }
};

/// The rows of a step.
class StepRows {
 public:
  /// `saved` is where what forward leaves lies, or null.
  StepRows(const CompiledRecursion& compiled, const StepIn& in, std::span<const Rows> states, float* saved)
      : compiled_(compiled), in_(in), states_(states) {
    order_.find(compiled, in);
    for (const Rows& state : states)
      if (memory_.zeros.size() < at(state.width)) memory_.zeros.resize(at(state.width), 0.0F);
    const std::span<const RecursionProgram> kinds = compiled.kinds();
    if (memory_.kinds.size() < kinds.size()) memory_.kinds.resize(kinds.size());
    const auto floats_of = [&](const RecursionProgram& kind) {
      return saved != nullptr ? kind.saved : kind.hoists ? kind.program->hoisted_width() : 0;
    };
    if (saved == nullptr) {
      std::int64_t floats = 0;
      for (std::size_t k = 0; k < kinds.size(); ++k) floats += rows_of(k) * (kinds[k].operands + floats_of(kinds[k]));
      if (memory_.kept.size() < at(floats)) memory_.kept.resize(at(floats));
    }
    // Kind after kind: the operands of all its rows, then what its program leaves.
    float* next = saved != nullptr ? saved : memory_.kept.data();
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      KindRows& rows = memory_.kinds[k];
      rows.begin = order_.kind_begin[k];
      rows.count = rows_of(k);
      if (rows.count == 0) continue;
      rows.lists = 0;
      rows.operands = next;
      next += rows.count * kinds[k].operands;
      const std::int64_t width = floats_of(kinds[k]);
      const Rows kept{width > 0 ? next : nullptr, rows.count, width, width, nullptr};
      next += rows.count * width;
      rows.saved = saved != nullptr ? kept : Rows();
      rows.hoisted = kept;
      if (!kinds[k].hoists) rows.hoisted = {};
      if (kinds[k].hoists && saved != nullptr) rows.hoisted.data += kinds[k].program->hoisted_column();
      if (kinds[k].hoists) rows.hoisted.width = kinds[k].program->hoisted_width();
      open(kinds[k], rows);
    }
  }

  Order& order() { return order_; }
  std::int64_t rows_of(std::size_t kind) const { return order_.kind_begin[kind + 1] - order_.kind_begin[kind]; }
  KindRows& kind(std::int32_t number) { return memory_.kinds[at(number)]; }
  const RecursionProgram& program(std::int32_t number) const { return compiled_.kinds()[at(number)]; }

  /// Where the gradients of the states are.
  void open_gradients(std::span<const Rows> gradients) {
    for_each_kind([&](const RecursionProgram&, KindRows& rows) {
      rows.state_gradients.clear();
      for (const Rows& each : gradients)
        rows.state_gradients.push_back(listed(rows, each, [](std::int32_t r) { return r; }));
    });
  }
  /// Where those of the inputs go. All parents of a row are done when its turn comes: until then they add to its
  /// gradient, which is there.
  void open_grads(std::span<const Rows> state_gradients, const GradRows& of_x) {
    for_each_kind([&](const RecursionProgram& kind, KindRows& rows) {
      rows.grads.clear();
      for (const RecursionInput& input : kind.inputs) {
        const auto read = [&](std::int32_t r) { return read_by(input, r); };
        if (input.child != RecursionInput::kX)
          rows.grads.emplace_back(listed(rows, state_gradients[at(input.part)], read), /*store=*/false);
        else
          rows.grads.push_back(of_x ? GradRows(listed(rows, of_x.rows(), read), of_x.stores()) : GradRows());
      }
      rows.grads.resize(rows.inputs.size());
    });
  }
  /// What backward leaves lies kind after kind too.
  void open_deferred(float* deferred) {
    for_each_kind([&](const RecursionProgram& kind, KindRows& rows) {
      rows.deferred = kind.deferred == 0 ? Rows() : Rows{deferred, rows.count, kind.deferred, kind.deferred, nullptr};
      deferred += rows.count * kind.deferred;
    });
  }

  /// Calls f(program, rows) for each kind that has rows.
  template <class F>
  void for_each_kind(const F& f) {
    for (std::size_t k = 0; k < compiled_.kinds().size(); ++k)
      if (rows_of(k) > 0) f(compiled_.kinds()[k], memory_.kinds[k]);
  }

  /// Rows `begin` to `begin + count - 1` of a kind, as inputs of its program. Valid until the next call.
  StepIn step(const RecursionProgram& kind, const KindRows& rows, std::int64_t begin, std::int64_t count) {
    const std::size_t stacked = kind.inputs.size();
    memory_.inputs.resize(rows.inputs.size());
    for (std::size_t i = 0; i < stacked; ++i) memory_.inputs[i] = piece(rows.inputs[i], begin, count);
    for (std::size_t i = stacked; i < rows.inputs.size(); ++i) {
      memory_.inputs[i] = rows.inputs[i];
      memory_.inputs[i].count = count;
    }
    StepIn step;
    step.rows = count;
    step.inputs = memory_.inputs;
    step.parameters = rows.parameters;
    step.out = &kind.program->result_shape(0);
    step.use = in_.use;
    step.use.rows_to_come = rows.count;
    if (kind.hoists) step.hoisted = ops::piece_of(rows.hoisted, begin, count);
    return step;
  }
  static std::span<const Rows> pieces(const std::vector<Rows>& all, std::int64_t begin, std::int64_t count,
                                      std::vector<Rows>& to) {
    to.resize(all.size());
    for (std::size_t p = 0; p < all.size(); ++p) to[p] = piece(all[p], begin, count);
    return to;
  }
  /// What backward of a program sees.
  Saved saved(const RecursionProgram& kind, const KindRows& rows, std::int64_t begin, std::int64_t count) {
    Saved saved;
    saved.in = step(kind, rows, begin, count);
    saved.in.use.training = true;
    saved.results = pieces(rows.states, begin, count, memory_.results);
    saved.y = saved.results[0];
    if (rows.saved.data != nullptr) saved.saved = ops::piece_of(rows.saved, begin, count);
    if (rows.deferred.data != nullptr) saved.deferred = ops::piece_of(rows.deferred, begin, count);
    saved.result_gradients = pieces(rows.state_gradients, begin, count, memory_.result_gradients);
    saved.dy = saved.result_gradients[0];
    return saved;
  }
  StepMemory& memory() { return memory_; }

  /// Brings side by side what is multiplied together.
  void gather(const RecursionProgram& kind, const KindRows& rows, std::int64_t begin, std::int64_t count) const {
    for (const RecursionInput& input : kind.inputs) {
      if (input.column < 0) continue;
      const ConstRows from = source(input);
      float* to = rows.operands + begin * kind.operands + input.column;
      const auto bytes = at(input.width) * sizeof(float);
      const std::int32_t* row = order_.row.data() + rows.begin + begin;
      for (std::int64_t r = 0; r < count; ++r, to += kind.operands)
        std::memcpy(to, row_of(from, read_by(input, row[r])), bytes);
    }
  }

 private:
  void open(const RecursionProgram& kind, KindRows& rows) {
    rows.inputs.clear();
    rows.parameters.clear();
    for (const RecursionInput& input : kind.inputs) {
      if (input.column >= 0)
        rows.inputs.push_back({rows.operands + input.column, rows.count, input.width, kind.operands, nullptr});
      else
        rows.inputs.push_back(listed(rows, source(input), [&](std::int32_t r) { return read_by(input, r); }));
      rows.parameters.push_back(nullptr);
    }
    for (const std::size_t parameter : kind.parameters) {
      rows.inputs.push_back(in_[parameter]);
      rows.parameters.push_back(in_.parameter(parameter));
    }
    rows.states.clear();
    for (const Rows& state : states_) rows.states.push_back(listed(rows, state, [](std::int32_t r) { return r; }));
  }
  ConstRows source(const RecursionInput& input) const {
    return input.child == RecursionInput::kX ? in_[0] : ConstRows(states_[at(input.part)]);
  }
  static constexpr std::int32_t kMissing = -1;

  /// Which row of x or of the states an input of row r is.
  std::int32_t read_by(const RecursionInput& input, std::int32_t r) const {
    const std::int32_t* const field = order_.fields(in_, r);
    if (input.child == RecursionInput::kX) return order_.first_x[at(r)] + field[RowField::kX];
    const std::int32_t child = field[RowField::kFirstChild + input.child];
    return child < 0 ? kMissing : order_.first[at(r)] + child;
  }
  const float* row_of(const ConstRows& rows, std::int32_t number) const {
    return number == kMissing ? memory_.zeros.data() : rows[number];
  }
  /// Rows which(r) of `from` for each row r of a kind: as offsets, unless they are evenly spaced.
  template <class T, class Which>
  BasicRows<T> listed(KindRows& rows, const BasicRows<T>& from, const Which& which) const {
    const std::int32_t* const row = order_.row.data() + rows.begin;
    if (rows.offsets.size() == rows.lists) {
      rows.offsets.emplace_back();
      rows.unread.emplace_back();
    }
    std::vector<float>& unread = rows.unread[rows.lists];
    std::vector<std::int64_t>& offsets = rows.offsets[rows.lists++];
    offsets.resize(at(rows.count));
    // Whoever adds to the gradients of several that are missing must not meet another there.
    std::int64_t missing = 0;
    if constexpr (!std::is_const_v<T>) {
      for (std::int64_t i = 0; i < rows.count; ++i) missing += which(row[i]) == kMissing ? 1 : 0;
      if (unread.size() < at(missing * from.width)) unread.resize(at(missing * from.width));
    }
    const auto address_of = [&](std::int64_t i) -> T* {
      const std::int32_t number = which(row[i]);
      if (number != kMissing) return from[number];
      if constexpr (std::is_const_v<T>)
        return memory_.zeros.data();
      else
        return unread.data() + --missing * from.width;
    };
    T* const first = address_of(0);
    bool is_even = true;
    for (std::int64_t i = 0; i < rows.count; ++i) {
      T* const address = i == 0 ? first : address_of(i);
      offsets[at(i)] = (reinterpret_cast<std::intptr_t>(address) - reinterpret_cast<std::intptr_t>(first)) /
                       static_cast<std::intptr_t>(sizeof(float));
      is_even = is_even && offsets[at(i)] == i * offsets[at(std::min<std::int64_t>(1, rows.count - 1))];
    }
    if (rows.count == 1) return {first, 1, from.width, from.width, nullptr};
    const std::int64_t stride = offsets[1];
    if (is_even && stride >= from.width && stride > 0) return {first, rows.count, from.width, stride, nullptr};
    return {first, rows.count, from.width, from.width, offsets.data()};
  }

  const CompiledRecursion& compiled_;
  const StepIn& in_;
  std::span<const Rows> states_;
  Order& order_ = Order::of_thread();
  StepMemory& memory_ = StepMemory::of_thread();
};

float* data_of(const ConstRows& rows) { return const_cast<float*>(rows.data); }

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

}  // namespace

void run_recursion(const void* attrs, const StepIn& in, const StepOut& out) {
  StepRows step(recursion_of(attrs), in, out.results, out.saved.data);
  step.for_each_kind([&](const RecursionProgram& kind, const KindRows& rows) {
    if (kind.hoists) multiply_hoisted(*kind.program, step.step(kind, rows, 0, rows.count));
  });
  for (const Level& level : step.order().levels) {
    const RecursionProgram& kind = step.program(level.kind);
    const KindRows& rows = step.kind(level.kind);
    const std::int64_t begin = level.begin - rows.begin;
    const std::int64_t count = level.end - level.begin;
    step.gather(kind, rows, begin, count);
    const StepIn of_level = step.step(kind, rows, begin, count);
    const std::span<const Rows> results = StepRows::pieces(rows.states, begin, count, step.memory().results);
    const Program* const program = kind.program.get();
    const Rows saved = rows.saved.data != nullptr ? ops::piece_of(rows.saved, begin, count) : Rows();
    program->info().forward(&program, of_level, {.y = results[0], .saved = saved, .results = results});
  }
}

void run_recursion_backward(const void* attrs, const Saved& saved, Grads& grads) {
  const CompiledRecursion& compiled = recursion_of(attrs);
  StepRows step(compiled, saved.in, saved.results, data_of(saved.saved));
  const GradientOfX of_x(compiled, saved.in, step.order(), grads[0]);
  const OneThread one(of_x.is_shared() || step.order().shares_children(compiled, saved.in));
  step.open_gradients(saved.result_gradients);
  step.open_grads(saved.result_gradients, of_x.grads());
  step.open_deferred(saved.deferred.data);
  std::vector<GradRows>& of_level = step.memory().grads;
  for (std::size_t i = step.order().levels.size(); i-- > 0;) {
    const Level& level = step.order().levels[i];
    const RecursionProgram& kind = step.program(level.kind);
    const KindRows& rows = step.kind(level.kind);
    const std::int64_t begin = level.begin - rows.begin;
    const std::int64_t count = level.end - level.begin;
    of_level.resize(rows.grads.size());
    for (std::size_t k = 0; k < rows.grads.size(); ++k)
      of_level[k] =
          rows.grads[k] ? GradRows(piece(rows.grads[k].rows(), begin, count), rows.grads[k].stores()) : GradRows();
    Grads into(of_level);
    const Program* const program = kind.program.get();
    program->info().backward(&program, step.saved(kind, rows, begin, count), into);
  }
  if (!of_x.grads()) return;
  step.for_each_kind([&](const RecursionProgram& kind, const KindRows& rows) {
    if (kind.hoists)
      multiply_hoisted_backward(*kind.program, step.step(kind, rows, 0, rows.count), rows.hoisted, rows.grads[0]);
  });
}

void run_recursion_weight_gradients(const void* attrs, const Saved& saved, Grads& grads) {
  const CompiledRecursion& compiled = recursion_of(attrs);
  StepRows step(compiled, saved.in, saved.results, data_of(saved.saved));
  const Rows dy{data_of(saved.dy), saved.dy.count, saved.dy.width, saved.dy.stride, saved.dy.offsets};
  step.open_gradients({&dy, 1});
  step.open_deferred(saved.deferred.data);
  std::uint64_t written = 0;
  step.for_each_kind([&](const RecursionProgram& kind, const KindRows& rows) {
    std::vector<GradRows>& of_kind = step.memory().grads;
    of_kind.assign(kind.inputs.size(), {});
    for (const std::size_t parameter : kind.parameters) {
      const GradRows& target = grads[parameter];
      const bool is_first = (written >> parameter & 1U) == 0;
      written |= std::uint64_t{1} << parameter;
      of_kind.push_back(target ? GradRows(target.rows(), target.stores() && is_first) : GradRows());
    }
    Grads into(of_kind);
    const Program* const program = kind.program.get();
    program->info().weight_gradients(&program, step.saved(kind, rows, 0, rows.count), into);
  });
  for (std::size_t i = 1; i < saved.in.size(); ++i)
    if (grads[i] && grads[i].stores() && (written >> i & 1U) == 0)
      kernels::fill(0.0F, {grads[i].rows().data, at(grads[i].width())});
}

}  // namespace espalier::cells
