/// StepRows: the rows of a step of a recursion, in the order in which they run, and where all that they read and write
/// lies.
///
/// Thread safety: a thread has the memory of one step at a time; parts of it may run in threads of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/base/threads.h"
#include "espalier/cells/kind_rows.h"
#include "espalier/cells/recursion_order.h"
#include "espalier/cells/recursion_program.h"
#include "espalier/kernels/grain.h"
#include "espalier/kernels/rows.h"

namespace espalier::cells {

/// Whether the parts of a step are to run in threads of their own: where that takes no longer than dividing each level
/// among all threads, by its rows.
inline bool runs_apart(const CompiledRecursion& compiled, const RecursionOrder& order) {
  if (order.parts().size() < 2 || !has_other_threads()) return false;
  const std::int64_t threads = thread_count();
  std::int64_t all = 0;
  std::int64_t longest = 0;
  std::int64_t divided = 0;
  for (const RecursionOrder::Part& part : order.parts()) {
    std::int64_t work = 0;
    for (const RecursionOrder::Level& level : order.levels(part)) {
      const Program& program = *compiled.kinds()[at(level.kind)].program;
      const std::int64_t rows = level.end - level.begin;
      work += rows * program.work();
      divided += rows * program.work() / std::clamp<std::int64_t>(rows / grain_of(program), 1, threads);
    }
    all += work;
    longest = std::max(longest, work);
  }
  return all >= 2 * kernels::kLeastWork && std::max(longest, all / threads) <= divided;
}

enum class Pass : std::int32_t { kForward, kBackward };

/// The rows of a step.
class StepRows {
 public:
  using Level = RecursionOrder::Level;
  using Part = RecursionOrder::Part;

  /// `saved` is where what forward leaves lies, or null.
  StepRows(Pass pass, const CompiledRecursion& compiled, const StepIn& in, std::span<const Rows> states, float* saved)
      : compiled_(compiled), in_(in), states_(states), order_(RecursionOrder::of_step(compiled, in)) {
    for (const Rows& state : states)
      if (memory_.zeros.size() < at(state.width)) memory_.zeros.resize(at(state.width), 0.0F);
    if (memory_.kinds.size() < compiled.kinds().size()) memory_.kinds.resize(compiled.kinds().size());
    is_apart_ = runs_apart(compiled, order_);
    place_once(pass);
    place(saved);
    for_each_kind([&](const RecursionProgram& kind, KindRows& rows, RecursionOrder::Kind& order) {
      rows.own_used = 0;
      open(kind, rows, order);
    });
  }

  RecursionOrder& order() { return order_; }
  KindRows& kind(std::int32_t number) { return memory_.kinds[at(number)]; }

  /// Where the gradients of the states are, those of the inputs go, and what backward leaves: kind after kind too. All
  /// parents of a row are done when its turn comes: until then they add to its gradient. Of the parts that are
  /// `unwritten` nothing is there: a row's only parent stores it.
  void open_gradients(std::span<const Rows> gradients, std::uint32_t unwritten, const GradRows& of_x, float* deferred) {
    const auto is_stored = [&](std::int32_t part) {
      return (unwritten >> static_cast<std::uint32_t>(part) & 1U) != 0 && !order_.shares_children();
    };
    for (std::size_t part = 0; part < gradients.size(); ++part)
      if ((unwritten >> part & 1U) != 0) zero_unparented(gradients[part]);
    bool stores_x = of_x && of_x.stores();
    const bool is_stored_once = stores_x && !order_.reads_all_of_x_once();
    for_each_kind([&](const RecursionProgram& kind, KindRows& rows, RecursionOrder::Kind& order) {
      rows.state_gradients.clear();
      for (const Rows& each : gradients) rows.state_gradients.push_back(listed(rows, each, order.rows));
      rows.grads.assign(rows.inputs.size(), {});
      for (std::size_t i = 0; i < kind.inputs.size(); ++i) {
        if (kind.inputs[i].child != RecursionInput::kX) {
          const std::int32_t part = kind.inputs[i].part;
          rows.grads[i] = GradRows(listed(rows, gradients[at(part)], order.read_by(kind.inputs[i])), is_stored(part));
        } else if (of_x) {
          rows.grads[i] = GradRows(listed(rows, of_x.rows(), order.x_multiplied()), stores_x);
          if (is_stored_once) stores_x = false;
        }
      }
      open_deferred(kind, rows, deferred);
      rows.run.open_gradients(rows.state_gradients, rows.deferred, Grads(rows.grads));
    });
  }
  /// Where parts run in threads of their own: all but the first that reads x leave its gradient apart...
  void separate_gradients_of_x() {
    std::int32_t first = -1;
    for_each_kind([&](const RecursionProgram& kind, KindRows& rows, const RecursionOrder::Kind& order) {
      rows.x_gradient = {};
      if (kind.inputs[0].child != RecursionInput::kX || order_.reads_all_of_x_once()) return;
      if (first < 0) first = order.part;
      if (order.part == first) return;
      const std::int64_t width = kind.inputs[0].width;
      const auto count = std::ssize(order.x_multiplied().numbers());
      rows.x_gradient = {rows.room_for_x_gradient(count * width), count, width, width, nullptr};
      rows.grads[0] = GradRows(rows.x_gradient, /*store=*/true);
    });
  }
  /// ...and this adds it to the others'.
  void join_gradients_of_x(const Rows& of_x) {
    for_each_kind([&](const RecursionProgram&, const KindRows& rows, const RecursionOrder::Kind& order) {
      const std::span<const std::int32_t> numbers = order.x_multiplied().numbers();
      for (std::int64_t r = 0; r < rows.x_gradient.count; ++r)
        kernels::add({rows.x_gradient[r], at(of_x.width)}, {of_x[numbers[at(r)]], at(of_x.width)});
    });
  }
  /// What backward has left, and the gradients of the first part of the states.
  void open_deferred(const Rows& dy, float* deferred) {
    for_each_kind([&](const RecursionProgram& kind, KindRows& rows, RecursionOrder::Kind& order) {
      rows.state_gradients.assign(1, listed(rows, dy, order.rows));
      open_deferred(kind, rows, deferred);
    });
  }

  /// Calls f(program, rows, order) for each kind that has rows, as they run.
  template <class F>
  void for_each_kind(const F& f) {
    for (const std::int32_t k : order_.kinds()) f(compiled_.kinds()[at(k)], memory_.kinds[at(k)], order_.kind(at(k)));
  }
  /// Whether parts may run in threads of their own.
  bool is_apart() const { return is_apart_; }
  /// Calls f(part) for each part, if they are `apart` in threads of their own.
  template <class F>
  void for_each_part(bool apart, const F& f) const {
    const std::span<const Part> parts = order_.parts();
    const auto count = std::ssize(parts);
    parallel_for(count, apart ? 1 : count, [&](std::int64_t begin, std::int64_t end) {
      for (const Part& part : parts.subspan(at(begin), at(end - begin))) f(part);
    });
  }

  /// Brings x into the order of the rows, where it is kept so: its product reads it, and the gradient of its weights.
  void gather_x(const KindRows& rows, const RecursionOrder::Kind& order) const {
    if (rows.x == nullptr) return;
    float* to = rows.x;
    for (const std::int32_t number : order.x_multiplied().numbers()) {
      std::memcpy(to, in_[0][number], at(in_[0].width) * sizeof(float));
      to += in_[0].width;
    }
  }
  /// Adds the gradients of a level's products of x to those of their rows of x that differ, as backward goes: from the
  /// last row to the first.
  void add_to_once(const Level& level) const {
    const KindRows& rows = memory_.kinds[at(level.kind)];
    if (!rows.multiplies_once()) return;
    const RecursionOrder::Kind& order = order_.kind(at(level.kind));
    const auto width = at(rows.once.width);
    for (std::int32_t r = level.end - 1; r >= level.begin; --r) {
      const std::span<float> sum{rows.once[order.distinct_of[at(r)]], width};
      if (order.is_last_equal[at(r)] != 0)
        kernels::copy({rows.hoisted[r], width}, sum);
      else
        kernels::add({rows.hoisted[r], width}, sum);
    }
  }
  /// Gives the rows of a level that are equal to others the states of those...
  void copy_equal(const Level& level) const {
    for (const RecursionOrder::Kind::Copy& copy : order_.kind(at(level.kind)).copies_of(level))
      for (const Rows& state : states_) std::memcpy(state[copy.row], state[copy.of], at(state.width) * sizeof(float));
  }
  /// ...and those their gradients.
  void add_equal(const Level& level, std::span<const Rows> gradients) const {
    for (const RecursionOrder::Kind::Copy& copy : order_.kind(at(level.kind)).copies_of(level))
      for (const Rows& each : gradients)
        kernels::add({each[copy.row], at(each.width)}, {each[copy.of], at(each.width)});
  }
  /// Brings side by side what is multiplied together, and what the product of x has given.
  void gather(const Level& level) const {
    const RecursionProgram& kind = compiled_.kinds()[at(level.kind)];
    const KindRows& rows = memory_.kinds[at(level.kind)];
    if (rows.multiplies_once()) {
      const std::vector<std::int32_t>& numbers = order_.kind(at(level.kind)).distinct_of;
      for (std::int32_t r = level.begin; r < level.end; ++r)
        std::memcpy(rows.hoisted[r], rows.once[numbers[at(r)]], at(rows.once.width) * sizeof(float));
    }
    for (std::size_t i = 0; i < kind.inputs.size(); ++i) {
      const RecursionInput& input = kind.inputs[i];
      if (input.column < 0) continue;
      const ConstRows from = source(input);
      float* to = rows.operands + level.begin * kind.operands + input.column;
      const auto bytes = at(input.width) * sizeof(float);
      const std::int32_t* const numbers = order_.kind(at(level.kind)).read_by(input).numbers().data();
      for (std::int32_t r = level.begin; r < level.end; ++r, to += kind.operands)
        std::memcpy(to, numbers[r] == RowList::kMissing ? memory_.zeros.data() : from[numbers[r]], bytes);
    }
  }

 private:
  /// Zeros for the rows to which no single parent stores a gradient.
  void zero_unparented(const Rows& gradients) const {
    const auto zero = [&](std::int64_t r) { kernels::fill(0.0F, {gradients[r], at(gradients.width)}); };
    if (order_.shares_children())
      for (std::int64_t r = 0; r < gradients.count; ++r) zero(r);
    else
      for (const std::int32_t r : order_.roots()) zero(r);
  }
  /// Kind after kind: the operands of all its rows, then what its program leaves. Where nothing is left for backward,
  /// parts that run one after the other have the same memory.
  void place(float* saved) {
    const std::span<const RecursionProgram> kinds = compiled_.kinds();
    const auto floats_of = [&](const RecursionProgram& kind) {
      return saved != nullptr ? kind.saved : kind.hoists ? kind.program->hoisted_width() : 0;
    };
    const auto x_of = [&](const RecursionProgram& kind) { return saved != nullptr ? kind.x_kept : 0; };
    memory_.of_part.assign(kinds.size(), 0);
    const auto taken = [&](std::size_t k) -> std::int64_t& {
      return memory_.of_part[saved != nullptr || is_apart_ ? 0 : at(order_.kind(k).part)];
    };
    if (saved == nullptr) {
      for (const std::int32_t number : order_.kinds()) {
        const auto k = at(number);
        taken(k) += order_.kind(k).count * (kinds[k].operands + floats_of(kinds[k]));
      }
      const std::int64_t floats = *std::max_element(memory_.of_part.begin(), memory_.of_part.end());
      if (memory_.kept.size() < at(floats)) memory_.kept.resize(at(floats));
      memory_.of_part.assign(kinds.size(), 0);
    }
    for (const std::int32_t number : order_.kinds()) {
      const auto k = at(number);
      KindRows& rows = memory_.kinds[k];
      rows.count = order_.kind(k).count;
      rows.operands = (saved != nullptr ? saved : memory_.kept.data()) + taken(k);
      float* const x = rows.operands + rows.count * kinds[k].operands;
      rows.x = x_of(kinds[k]) > 0 && (rows.multiplies_once() || !order_.kind(k).read[0].is_even()) ? x : nullptr;
      float* const left = x + rows.count * x_of(kinds[k]);
      const std::int64_t width = floats_of(kinds[k]);
      const Kept kept{{width > 0 ? left : nullptr, rows.count, width, width, nullptr}, /*by_value=*/true};
      taken(k) += rows.count * (kinds[k].operands + x_of(kinds[k]) + width);
      rows.saved = saved != nullptr ? kept : Kept();
      rows.hoisted = {};
      if (kinds[k].hoists) {
        const std::int64_t before = saved != nullptr ? kinds[k].program->hoisted_column() : 0;
        const Location made = kept.columns(before, kinds[k].program->hoisted_width());
        rows.hoisted = {made.data, rows.count, made.stride, made.stride, nullptr};
      }
    }
  }

  /// The products of the rows of x that differ. Parts that run one after the other have the same memory, but not in
  /// backward, which leaves gradients there.
  void place_once(Pass pass) {
    std::vector<std::int64_t>& taken = memory_.of_part;
    taken.assign(compiled_.kinds().size(), 0);
    for_each_kind([&](const RecursionProgram& kind, KindRows& rows, const RecursionOrder::Kind& order) {
      rows.once = {};
      const auto count = std::ssize(order.distinct_x.numbers());
      if (count == 0) return;
      const std::int64_t width = kind.program->hoisted_width();
      std::int64_t& before = taken[pass == Pass::kBackward || is_apart_ ? 0 : at(order.part)];
      rows.once = {nullptr, count, width, width, nullptr};
      rows.once_at = before;
      before += count * width;
    });
    const std::int64_t floats = *std::max_element(taken.begin(), taken.end());
    if (memory_.once.size() < at(floats)) memory_.once.resize(at(floats));
    for_each_kind([&](const RecursionProgram&, KindRows& rows, const RecursionOrder::Kind&) {
      if (rows.once.count > 0) rows.once.data = memory_.once.data() + rows.once_at;
    });
  }

  void open(const RecursionProgram& kind, KindRows& rows, RecursionOrder::Kind& order) {
    rows.inputs.clear();
    rows.parameters.assign(kind.inputs.size(), nullptr);
    for (std::size_t i = 0; i < kind.inputs.size(); ++i) {
      const RecursionInput& input = kind.inputs[i];
      if (input.column >= 0)
        rows.inputs.push_back({rows.operands + input.column, rows.count, input.width, kind.operands, nullptr});
      else if (input.child == RecursionInput::kX && rows.x != nullptr)
        rows.inputs.push_back({rows.x, rows.rows_of_x(), input.width, input.width, nullptr});
      else if (input.child == RecursionInput::kX && rows.multiplies_once())
        rows.inputs.push_back(listed(rows, in_[0], order.distinct_x));
      else
        rows.inputs.push_back(listed(rows, source(input), order.read_by(input)));
    }
    for (const std::size_t parameter : kind.parameters) {
      rows.inputs.push_back(in_[parameter]);
      rows.parameters.push_back(in_.parameter(parameter));
    }
    rows.states.clear();
    for (const Rows& state : states_) rows.states.push_back(listed(rows, state, order.rows));
    rows.in = StepIn();
    rows.in.rows = rows.count;
    rows.in.inputs = rows.inputs;
    rows.in.parameters = rows.parameters;
    rows.in.out = &kind.program->result_shape(0);
    rows.in.use = in_.use;
    rows.in.use.rows_to_come = rows.count;
    rows.in.hoisted = rows.hoisted;
    rows.run.open(*kind.program, rows.in, rows.states, rows.saved, {order.childless, kind.of_children});
  }
  static void open_deferred(const RecursionProgram& kind, KindRows& rows, float*& next) {
    rows.deferred = {};
    if (kind.deferred > 0) rows.deferred = {{next, rows.count, kind.deferred, kind.deferred, nullptr}, true};
    next += rows.count * kind.deferred;
  }
  ConstRows source(const RecursionInput& input) const {
    return input.child == RecursionInput::kX ? in_[0] : ConstRows(states_[at(input.part)]);
  }

  /// The rows of `from` that a list names.
  template <class T>
  BasicRows<T> listed(KindRows& rows, const BasicRows<T>& from, RowList& list) const {
    const auto count = std::ssize(list.numbers());
    if (from.offsets != nullptr || !list.missing().empty()) return listed_one_by_one(rows, from, list);
    if (list.is_even()) {
      const std::int64_t stride = count > 1 ? list.distance() * from.stride : std::max(from.stride, from.width);
      return {from.data + list.numbers()[0] * from.stride, count, from.width, stride, nullptr};
    }
    return {from.data, count, from.width, from.stride, list.offsets(from.stride)};
  }
  /// Some are missing, or those of `from` lie anywhere.
  template <class T>
  BasicRows<T> listed_one_by_one(KindRows& rows, const BasicRows<T>& from, RowList& list) const {
    const auto count = std::ssize(list.numbers());
    KindRows::Own& own = rows.next_own();
    own.offsets.resize(at(count));
    if (from.offsets == nullptr)
      std::copy_n(list.offsets(from.stride), count, own.offsets.data());
    else
      for (std::size_t i = 0; i < at(count); ++i)
        if (const std::int32_t number = list.numbers()[i]; number != RowList::kMissing)
          own.offsets[i] = from.offsets[number];
    T* unread = nullptr;
    std::int64_t next = 0;
    if constexpr (std::is_const_v<T>) {
      unread = memory_.zeros.data();
    } else {
      // Whoever adds to the gradients of several that are missing must not meet another there.
      const std::size_t floats = list.missing().size() * at(from.width);
      if (own.unread.size() < floats) own.unread.resize(floats);
      unread = own.unread.data();
      next = from.width;
    }
    for (const std::int32_t place : list.missing()) {
      own.offsets[at(place)] = (reinterpret_cast<std::intptr_t>(unread) - reinterpret_cast<std::intptr_t>(from.data)) /
                               static_cast<std::intptr_t>(sizeof(float));
      unread += next;
    }
    return {from.data, count, from.width, from.width, own.offsets.data()};
  }

  const CompiledRecursion& compiled_;
  const StepIn& in_;
  std::span<const Rows> states_;
  RecursionOrder& order_;
  StepMemory& memory_ = StepMemory::of_thread();
  bool is_apart_ = false;
};

}  // namespace espalier::cells
