#include "espalier/cells/layout.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "espalier/base/at.h"
#include "espalier/cells/intervals.h"
#include "espalier/ops/relu.h"
#include "espalier/ops/step.h"

namespace espalier::cells {
namespace {

/// Floats of a tile: with values and gradients it stays in a first cache of 32 KB or more.
constexpr std::int64_t kTileFloats = 8192;
/// Operations on elements are this many multiply-adds of a product.
constexpr std::int64_t kElementWork = 16;

}  // namespace

class Layout {
 public:
  Layout(Program& program, std::size_t results, std::int64_t random_bytes)
      : program_(&program), facts_{.results = results, .random_bytes = random_bytes} {}

  void make() {
    make_groups();
    plan_backward();
    find_relus();
    map_in_place();
    open_in_place();
    keep_for_backward();
    place_temps();
    find_places();
    find_hoisted();
    make_infos(*program_, facts_);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  Value& value(std::int32_t id) { return program_->values_[at(id)]; }
  Base& base_of(std::int32_t id) { return program_->bases_[at(value(id).base)]; }
  std::vector<Instruction>& code() { return program_->instructions_; }

  // --- groups --------------------------------------------------------------------------------------------------------

  void make_groups() {
    group_of_.resize(code().size());
    for (std::size_t i = 0; i < code().size(); ++i) {
      const auto number = static_cast<std::int32_t>(i);
      std::vector<Group>& groups = program_->groups_;
      const bool joins = !groups.empty() && !code()[i].is_product() && !code()[at(groups.back().first)].is_product();
      if (joins)
        groups.back().last = number + 1;
      else
        groups.push_back({number, number + 1, 1});
      group_of_[i] = static_cast<std::int32_t>(groups.size()) - 1;
    }
    for (Group& group : program_->groups_) {
      std::int64_t floats = 1;
      for (std::int32_t i = group.first; i < group.last; ++i) floats += value(code()[at(i)].out).width;
      group.tile_rows = std::max<std::int64_t>(1, kTileFloats / floats);
      if (!code()[at(group.first)].is_product()) program_->tile_rows_ = std::max(program_->tile_rows_, group.tile_rows);
    }
    for (Instruction& instruction : code()) {
      for (std::int32_t operand : instruction.in) instruction.shapes.push_back(value(operand).shape);
      std::int64_t work = value(instruction.out).width * kElementWork;
      if (instruction.is_product()) work = value(instruction.in[at(instruction.parts)]).width;
      program_->work_ += work;
    }
  }

  // --- backward ------------------------------------------------------------------------------------------------------

  void plan_backward() {
    std::vector<Intervals> written(program_->bases_.size());
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> input_writers(program_->inputs_.size());
    for (std::size_t b = 0; b < written.size(); ++b)
      if (program_->bases_[b].place == Place::kResult) written[b].add(0, program_->bases_[b].width);
    for (std::size_t i = code().size(); i-- > 0;) {
      Instruction& instruction = code()[i];
      const auto zero_gaps = [&](const Value& of) {
        bool any = false;
        for (const auto& [begin, end] : written[at(of.base)].gaps(of.offset, of.offset + of.width)) {
          instruction.zeros.push_back({of.base, begin, end - begin});
          any = true;
        }
        written[at(of.base)].add(of.offset, of.offset + of.width);
        return any;
      };
      zero_gaps(value(instruction.out));
      const std::size_t operands =
          instruction.is_product() ? static_cast<std::size_t>(instruction.parts) : instruction.in.size();
      instruction.writes.assign(instruction.in.size(), Write::kNone);
      for (std::size_t k = 0; k < operands; ++k) {
        const Value& operand = value(instruction.in[k]);
        if (operand.base == kNone) continue;
        const Base& base = program_->bases_[at(operand.base)];
        if (base.place == Place::kInput) {
          instruction.writes[k] = Write::kAdd;
          input_writers[at(base.number)].emplace_back(i, k);
          continue;
        }
        const auto gaps = written[at(operand.base)].gaps(operand.offset, operand.offset + operand.width);
        std::int64_t open = 0;
        for (const auto& [begin, end] : gaps) open += end - begin;
        if (open == operand.width && operand.width > 0 && !is_shifted(instruction, k)) {
          instruction.writes[k] = Write::kStore;
          written[at(operand.base)].add(operand.offset, operand.offset + operand.width);
        } else {
          zero_gaps(operand);
          instruction.writes[k] = Write::kAdd;
        }
      }
    }
    for (std::size_t number = 0; number < input_writers.size(); ++number) {
      if (program_->inputs_[number].role != Role::kStacked) continue;
      const auto& writers = input_writers[number];
      if (writers.size() == 1) {
        const auto [i, k] = writers[0];
        const Value& operand = value(code()[i].in[k]);
        if (operand.width == program_->bases_[at(operand.base)].width) {
          code()[i].writes[k] = Write::kInput;
          continue;
        }
      }
      program_->zeroed_inputs_.push_back(static_cast<std::int32_t>(number));
    }
  }

  /// Whether an operand shares some columns with another one, at other places of theirs. A kernel that goes through all
  /// operands together would then store over what it added before.
  bool is_shifted(const Instruction& instruction, std::size_t k) {
    if (instruction.is_product()) return false;  // its parts are written one after the other
    const Value& of = value(instruction.in[k]);
    return std::any_of(instruction.in.begin(), instruction.in.end(), [&](std::int32_t id) {
      const Value& other = value(id);
      return other.base == of.base && other.offset != of.offset && other.offset < of.offset + of.width &&
             of.offset < other.offset + other.width;
    });
  }

  /// A map whose operand is needed by nobody else, nor by any backward, leaves its result in the operand's place; so
  /// does its gradient. What a product makes and a map changes is then written to one place.
  void map_in_place() {
    for (Instruction& instruction : code()) {
      // What shared operands need to know is the gradient of the result.
      if (instruction.info->kind != Kind::kMap || instruction.any_shared) continue;
      const Value& out = value(instruction.out);
      if (!is_whole_temp(out)) continue;
      for (std::size_t k = 0; k < instruction.in.size(); ++k) {
        const Value& in = value(instruction.in[k]);
        if (!is_whole_temp(in) || in.width != out.width || instruction.info->keeps(k) ||
            instruction.writes[k] != Write::kStore || readers(in.base) != 1 || keeps_output(in.base))
          continue;
        const std::int32_t left = out.base;
        const std::int32_t taken = in.base;
        for (Value& each : program_->values_)
          if (each.base == left) each.base = taken;
        for (Instruction& each : code())
          for (Columns& columns : each.zeros)
            if (columns.base == left) columns.base = taken;
        break;
      }
    }
  }
  bool is_whole_temp(const Value& of) {
    return of.base != kNone && program_->bases_[at(of.base)].place == Place::kTemp && of.offset == 0 &&
           of.width == program_->bases_[at(of.base)].width;
  }
  /// Whether the backward of what makes a base reads it.
  bool keeps_output(std::int32_t base) {
    return std::any_of(code().begin(), code().end(), [&](const Instruction& instruction) {
      return value(instruction.out).base == base && instruction.info->keep.output;
    });
  }
  /// How many operands of instructions are of a base.
  std::int64_t readers(std::int32_t base) {
    std::int64_t count = 0;
    for (const Instruction& instruction : code())
      count += std::count_if(instruction.in.begin(), instruction.in.end(),
                             [&](std::int32_t id) { return value(id).base == base; });
    return count;
  }

  /// Where all of a temp's columns are opened by ops that can leave the result in their place, it is kept as it is
  /// then, and its gradient takes that place: such a row is written twice, and read while it is in the cache.
  void open_in_place() {
    for (std::size_t b = 0; b < program_->bases_.size(); ++b)
      if (program_->bases_[b].place == Place::kTemp && is_opened_once(static_cast<std::int32_t>(b))) {
        program_->bases_[b].gradient_in_saved = true;
        for (Instruction& instruction : code())
          if (reads(instruction, static_cast<std::int32_t>(b)) && !instruction.is_product()) open_in_place(instruction);
      }
  }
  bool reads(const Instruction& instruction, std::int32_t base) {
    return std::any_of(instruction.in.begin(), instruction.in.end(),
                       [&](std::int32_t id) { return value(id).base == base; });
  }
  bool is_opened_once(std::int32_t base) {
    bool is_multiplied = false;
    bool is_opened = false;
    for (const Instruction& instruction : code()) {
      is_multiplied |= instruction.is_product() && value(instruction.out).base == base;
      if (!reads(instruction, base)) continue;
      // The gradients of shared operands are computed at the end, from gates that would be overwritten by then.
      if (instruction.info->overwrites == nullptr || instruction.any_shared) return false;
      is_opened = true;
      for (std::size_t k = 0; k < instruction.in.size(); ++k) {
        const bool overwritten = instruction.info->overwrites(k);
        // What it overwrites must all be of this base, and be nobody else's.
        if (overwritten != (value(instruction.in[k]).base == base)) return false;
        if (overwritten && instruction.writes[k] != Write::kStore) return false;
      }
    }
    return is_multiplied && is_opened;
  }
  void open_in_place(Instruction& instruction) {
    instruction.in_place = true;
    instruction.saved_floats = instruction.info->saved_in_place(
        instruction.attrs.data(), InputShapes(instruction.info->name, instruction.info->inputs, instruction.shapes));
    facts_.overwrites_saved = true;
  }

  // --- what backward reads -------------------------------------------------------------------------------------------

  void keep_for_backward() {
    facts_.keep_inputs = facts_.keep_results = 0;
    std::int64_t saved = 0;
    const auto keep = [&](const Value& kept, bool for_weights) {
      if (kept.base == kNone) {  // it may be computed from parameters
        facts_.keep_inputs |= std::uint64_t{1} << kept.shared;
        return;
      }
      Base& base = program_->bases_[at(kept.base)];
      if (base.place == Place::kInput) {
        facts_.keep_inputs |= std::uint64_t{1} << base.number;
        if (for_weights) facts_.weights_read_inputs |= std::uint64_t{1} << base.number;
      } else if (base.place == Place::kResult) {
        facts_.keep_results |= 1U << base.number;
        if (for_weights) facts_.weights_read_results |= 1U << base.number;
      } else if (base.saved < 0) {
        base.saved = saved;
        saved += base.width;
      }
    };
    std::int64_t deferred = 0;
    for (Instruction& instruction : code()) {
      const bool product = instruction.is_product();
      const OpInfo& info = *instruction.info;
      for (std::size_t k = 0; k < instruction.in.size(); ++k) {
        const bool reads = product ? k <= static_cast<std::size_t>(instruction.parts) : info.keeps(k);
        if (reads) keep(value(instruction.in[k]), instruction.any_shared);
      }
      if (product && base_of(instruction.out).gradient_in_saved) keep(value(instruction.out), false);
      if (!product && info.keep.output) keep(value(instruction.out), instruction.any_shared);
      if (instruction.saved_floats > 0) {
        instruction.saved = saved;
        saved += instruction.saved_floats;
      }
      Base& out = base_of(instruction.out);
      const bool is_main = out.place == Place::kResult && out.number == 0;  // whose gradient stays
      if (instruction.any_shared && !is_main && !out.gradient_in_saved && out.deferred < 0) {
        out.deferred = deferred;
        deferred += out.width;
      }
      if (instruction.any_shared && is_main) facts_.weights_read_dy = true;
    }
    program_->saved_ = facts_.overwrites_saved ? spread(saved) : saved;
    program_->deferred_ = deferred;
  }

  /// Rows that products read are an odd number of cache lines apart: a power of two would put them all into the same
  /// few places of the first cache.
  static std::int64_t spread(std::int64_t floats) {
    constexpr std::int64_t kLine = 16;
    constexpr std::int64_t kLeast = 16 * kLine;  // shorter rows would grow too much
    return floats < kLeast ? floats : ((floats + kLine - 1) / kLine | 1) * kLine;
  }

  // --- memory --------------------------------------------------------------------------------------------------------

  /// A temp whose maker and readers are of one group lives in its tiles.
  void place_temps() {
    constexpr std::int32_t kSeveral = -2;
    std::vector<std::int32_t> group(program_->bases_.size(), kNone);
    const auto touch = [&](std::int32_t id, std::int32_t by) {
      const std::int32_t base = value(id).base;
      if (base == kNone) return;
      group[at(base)] = group[at(base)] == kNone || group[at(base)] == by ? by : kSeveral;
    };
    for (std::size_t i = 0; i < code().size(); ++i) {
      const std::int32_t by = code()[i].is_product() ? kSeveral : group_of_[i];
      for (std::int32_t operand : code()[i].in) touch(operand, by);
      touch(code()[i].out, by);
    }
    Program::Scratch& scratch = program_->scratch_;
    for (std::size_t b = 0; b < group.size(); ++b) {
      Base& base = program_->bases_[b];
      if (base.place != Place::kTemp || group[b] == kNone) continue;
      base.in_tile = group[b] >= 0;
      base.gradient_in_tile = base.in_tile && base.deferred < 0 && !base.gradient_in_saved;
      std::int64_t& room = base.in_tile ? scratch.tile : scratch.piece;
      base.scratch = room;
      room += base.width;
      std::int64_t& gradient_room = base.gradient_in_tile ? scratch.tile_gradients : scratch.piece_gradients;
      base.gradient_scratch = gradient_room;
      gradient_room += base.width;
    }
  }

  // --- places -------------------------------------------------------------------------------------------------------

  /// The products whose result is read by a relu only: they do what it does, where they can.
  void find_relus() {
    relu_of_.assign(code().size(), kNone);
    for (std::size_t i = 0; i < code().size(); ++i) {
      const Instruction& relu = code()[i];
      if (relu.info != &ops::info_of<ops::Relu>()) continue;
      const Value& in = value(relu.in[0]);
      if (!is_whole_temp(in) || readers(in.base) != 1) continue;
      std::int32_t last = kNone;  // of those that write it
      for (std::size_t p = 0; p < i; ++p)
        if (value(code()[p].out).base == in.base) last = static_cast<std::int32_t>(p);
      if (last != kNone && code()[at(last)].is_product() && value(code()[at(last)].out).width == in.width)
        relu_of_[at(last)] = static_cast<std::int32_t>(i);
    }
  }
  /// Whether a product may write to where a value is: not within a tile; and what it is added to must be there.
  bool may_write_to(std::int32_t id, const Instruction& product) {
    return !base_of(id).in_tile && (!product.accumulates || value(id).base == value(product.out).base);
  }
  void find_places() {
    const auto place_of = [&](std::int32_t id, Write write) {
      const Value& of = value(id);
      const std::int32_t input = of.base >= 0 ? base_of(id).number : of.shared;
      return OperandPlace{of.base, input, of.offset, of.width, write};
    };
    for (std::size_t i = 0; i < code().size(); ++i) {
      Instruction& instruction = code()[i];
      instruction.operands_before = static_cast<std::int32_t>(program_->places_.size());
      instruction.operands = static_cast<std::int32_t>(instruction.in.size());
      for (std::size_t k = 0; k < instruction.in.size(); ++k)
        program_->places_.push_back(place_of(instruction.in[k], instruction.writes[k]));
      Instruction* const relu = relu_of_[i] == kNone ? nullptr : &code()[at(relu_of_[i])];
      instruction.then_relu = relu != nullptr && may_write_to(relu->out, instruction);
      if (instruction.then_relu) relu->is_done = true;
      program_->places_.push_back(place_of(instruction.then_relu ? relu->out : instruction.out, Write::kNone));
      program_->places_.push_back(place_of(instruction.out, Write::kNone));
      // The gradient of a result but the first is the step's: what weights need of it is copied.
      const Base& base = base_of(instruction.out);
      instruction.defers_result = base.place == Place::kResult && base.deferred >= 0;
    }
  }

  // --- hoisting ------------------------------------------------------------------------------------------------------

  void find_hoisted() {
    const Instruction& first = code()[0];
    if (first.parts != 1 || first.accumulates) return;
    const Value& x = value(first.in[0]);
    const Base& of_x = program_->bases_[at(x.base)];
    const std::int32_t made = value(first.out).base;
    const Base& of_made = program_->bases_[at(made)];
    if (of_x.place != Place::kInput || of_x.number != 0 || x.width != of_x.width) return;
    if (of_made.place != Place::kTemp || !of_made.gradient_in_saved || of_made.saved < 0) return;
    bool is_added_to = false;
    for (std::size_t i = 1; i < code().size(); ++i) {
      if (reads(code()[i], x.base)) return;
      is_added_to |= code()[i].accumulates && value(code()[i].out).base == made;
    }
    if (is_added_to && value(first.out).width == of_made.width) program_->hoisted_base_ = made;
  }

  Program* program_;
  CellFacts facts_;
  std::vector<std::int32_t> group_of_;  // by instruction
  std::vector<std::int32_t> relu_of_;   // by instruction: the relu that alone reads what a product makes
};

void lay_out(Program& program, std::size_t results, std::int64_t random_bytes) {
  Layout(program, results, random_bytes).make();
}

}  // namespace espalier::cells
