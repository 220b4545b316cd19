// The ops that uses of a program are recorded as.
#include <atomic>
#include <string>

#include "espalier/base/at.h"
#include "espalier/cells/layout.h"

namespace espalier::cells {

class ProgramInfos {
 public:
  ProgramInfos(Program& program, const CellFacts& facts) : program_(&program), facts_(facts) {}

  void make() {
    find_blocks();
    for (std::size_t i = 0; i < program_->inputs_.size(); ++i) program_->inputs_[i].name = program_->input_names_[i];
    static_assert(kAddressBytes == 2 * sizeof(std::uint32_t));
    program_->infos_.resize(facts_.results);
    for (std::size_t k = 1; k < facts_.results; ++k)
      program_->result_names_.push_back(program_->name_ + "." + std::to_string(k));
    program_->result_inputs_ = {Input{"cell", Role::kStacked, -1}};
    for (std::size_t k = 0; k < facts_.results; ++k) {
      OpInfo& info = program_->infos_[k];
      info.id = next_op_id();
      info.kind = k == 0 ? Kind::kCell : Kind::kResult;
      info.attr_words = 2;
      info.keep.output = (facts_.keep_results >> k & 1U) != 0;
      info.contract = "a cell";
    }
    OpInfo& cell = program_->infos_[0];
    cell.name = program_->name_;
    cell.inputs = program_->inputs_;
    cell.keep_mask = facts_.keep_inputs;
    cell.field_bytes = static_cast<std::int32_t>(facts_.random_bytes);
    cell.random = facts_.random_bytes > 0;
    cell.random_parts = program_->random_;
    cell.gathers = true;
    cell.stores_shared = true;
    cell.adds_only = find_adds_only();
    cell.results = static_cast<std::int32_t>(facts_.results);
    cell.deferred = program_->deferred_;
    cell.weights_read_inputs = facts_.weights_read_inputs;
    cell.weights_read_results = facts_.weights_read_results;
    cell.weights_read_dy = facts_.weights_read_dy;
    cell.overwrites_saved = facts_.overwrites_saved;
    cell.infer = [](const void* attrs, const InputShapes&) { return program_of(attrs).result_shape(0); };
    cell.saved = [](const void* attrs, const InputShapes&) { return program_of(attrs).saved(); };
    cell.forward = &run_forward;
    cell.backward = &run_backward;
    cell.weight_gradients = &run_weight_gradients;
    cell.moves_shared = &moves_shared_inputs;
    cell.prepare();
    for (std::size_t k = 1; k < facts_.results; ++k) {
      OpInfo& info = program_->infos_[k];
      info.name = program_->result_names_[k - 1];
      info.inputs = program_->result_inputs_;
      info.result = static_cast<std::int32_t>(k);
      info.attr_words = 3;
      info.infer = [](const void* attrs, const InputShapes&) {
        return program_of(attrs).result_shape(result_number(attrs));
      };
      info.prepare();
    }
  }

 private:
  static constexpr std::int32_t kNone = -1;

  const Value& value(std::int32_t id) const { return program_->values_[at(id)]; }
  const std::vector<Instruction>& code() const { return program_->instructions_; }

  void find_blocks() {
    std::int32_t block = 0;
    for (const Instruction& instruction : code()) {
      if (!instruction.is_product()) continue;
      bool fits = true;
      for (std::int32_t k = 0; k < instruction.parts; ++k) {
        const Value& part = value(instruction.in[at(k)]);
        const Base& base = program_->bases_[at(part.base)];
        fits = fits && base.place == Place::kInput && part.width == base.width &&
               program_->inputs_[at(base.number)].block < 0;
      }
      if (!fits) continue;
      for (std::int32_t k = 0; k < instruction.parts; ++k)
        program_->inputs_[at(program_->bases_[at(value(instruction.in[at(k)]).base)].number)].block = block;
      ++block;
    }
  }

  /// Shared inputs that are weights and biases of products and nothing else.
  std::uint64_t find_adds_only() {
    std::uint64_t of_products = 0;
    std::uint64_t of_others = 0;
    for (const Instruction& instruction : code())
      for (std::size_t k = 0; k < instruction.in.size(); ++k) {
        const Value& operand = value(instruction.in[k]);
        if (operand.base != kNone) continue;
        const bool is_weight = instruction.is_product() && k >= static_cast<std::size_t>(instruction.parts);
        (is_weight ? of_products : of_others) |= std::uint64_t{1} << operand.shared;
      }
    return of_products & ~of_others;
  }

  Program* program_;
  const CellFacts& facts_;
};

OpId next_op_id() {
  static std::atomic<std::int32_t> next{1 << 24};
  return OpId{next.fetch_add(1, std::memory_order_relaxed)};
}

void make_infos(Program& program, const CellFacts& facts) { ProgramInfos(program, facts).make(); }

}  // namespace espalier::cells
