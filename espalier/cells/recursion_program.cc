#include "espalier/cells/recursion_program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "espalier/base/at.h"

namespace espalier::cells {
namespace {

/// Rows of operands begin at lines of the cache.
constexpr std::int64_t kLine = 16;

/// Lays out what a program multiplies together. Where that is x alone, it is read where it is.
void lay_out_operands(RecursionProgram& kind) {
  std::map<std::int32_t, std::vector<std::size_t>> blocks;
  for (std::size_t i = 0; i < kind.inputs.size(); ++i)
    if (const std::int32_t block = kind.program->info().inputs[i].block; block >= 0) blocks[block].push_back(i);
  for (const auto& [block, members] : blocks) {
    if (members.size() == 1 && kind.inputs[members[0]].child == RecursionInput::kX) continue;
    for (const std::size_t i : members) {
      kind.inputs[i].column = kind.operands;
      kind.operands += kind.inputs[i].width;
    }
    kind.operands = (kind.operands + kLine - 1) / kLine * kLine;
  }
  for (std::size_t i = 0; i < kind.inputs.size(); ++i)
    if (kind.inputs[i].child != RecursionInput::kX) kind.of_children |= std::uint64_t{1} << i;
  for (const std::size_t parameter : kind.parameters) kind.reads |= std::uint64_t{1} << parameter;
  kind.saved = kind.program->saved();
  kind.deferred = kind.program->deferred();
  kind.hoists = kind.program->hoists() && kind.inputs[0].child == RecursionInput::kX && kind.inputs[0].column < 0;
  if (kind.hoists) kind.x_kept = kind.inputs[0].width;
}

}  // namespace

const CompiledRecursion& recursion_of(const void* attrs) {
  const CompiledRecursion* compiled = nullptr;
  std::memcpy(&compiled, attrs, kAddressBytes);
  return *compiled;
}

CompiledRecursion::CompiledRecursion(const std::string& name, std::vector<RecursionProgram> kinds,
                                     std::int32_t most_children, std::vector<const Parameter*> parameters,
                                     std::vector<Shape> states)
    : kinds_(std::move(kinds)),
      most_children_(most_children),
      parameters_(std::move(parameters)),
      states_(std::move(states)) {
  for (RecursionProgram& kind : kinds_) {
    lay_out_operands(kind);
    saved_ = std::max(saved_, kind.kept());
    deferred_ = std::max(deferred_, kind.deferred);
  }
  names_.push_back(name);
  for (std::size_t p = 1; p < states_.size(); ++p) names_.push_back(name + "." + std::to_string(p));
  make_infos();
}

void CompiledRecursion::make_infos() {
  inputs_.push_back({"x", Role::kStacked});
  for (const Parameter* parameter : parameters_) inputs_.push_back({parameter->name(), Role::kShared});
  result_inputs_ = {Input{"recursion", Role::kStacked}};
  infos_.resize(states_.size());
  for (std::size_t p = 0; p < states_.size(); ++p) {
    OpInfo& info = infos_[p];
    info.id = next_op_id();
    info.name = names_[p];
    info.contract = "a recursion";
    info.kind = p == 0 ? Kind::kCell : Kind::kResult;
    info.inputs = p == 0 ? inputs_ : result_inputs_;
    info.attr_words = p == 0 ? 2 : 3;
    info.result = static_cast<std::int32_t>(p);
    info.keep.output = true;  // parents read it
    if (p > 0)                // its attributes have its number
      info.infer = [](const void* attrs, const InputShapes&) {
        return recursion_of(attrs).state(result_number(attrs));
      };
  }
  OpInfo& info = infos_[0];
  info.infer = [](const void* attrs, const InputShapes&) { return recursion_of(attrs).state(0); };
  info.field_bytes = static_cast<std::int32_t>(sizeof(std::int32_t)) * (RowField::kFirstChild + most_children_);
  info.takes_whole = true;
  info.opens_results = states_.size() > 1;  // one is always read from outside
  info.stores_shared = true;
  info.keep_mask = 1;  // x
  info.results = static_cast<std::int32_t>(states_.size());
  info.deferred = deferred_;
  info.weights_read_inputs = 1;
  info.weights_read_results = (1U << states_.size()) - 1;
  info.weights_read_dy = true;
  info.adds_only = ~std::uint64_t{0};
  for (const RecursionProgram& kind : kinds_) {
    const OpInfo& of_kind = kind.program->info();
    info.overwrites_saved = info.overwrites_saved || of_kind.overwrites_saved;
    for (std::size_t i = 0; i < kind.parameters.size(); ++i)
      if ((of_kind.adds_only >> (kind.inputs.size() + i) & 1U) == 0)
        info.adds_only &= ~(std::uint64_t{1} << kind.parameters[i]);
  }
  info.saved = [](const void* attrs, const InputShapes&) { return recursion_of(attrs).saved(); };
  info.forward = &run_recursion;
  info.backward = &run_recursion_backward;
  info.weight_gradients = &run_recursion_weight_gradients;
  info.shared_read = [](const void* attrs, const StepIn& in) {
    const std::span<const RecursionProgram> kinds = recursion_of(attrs).kinds();
    std::uint64_t read = 0;
    for (std::int64_t r = 0; r < in.rows; ++r) read |= kinds[at(kind_of_row(in, r))].reads;
    return read;
  };
  for (OpInfo& each : infos_) each.prepare();
}

}  // namespace espalier::cells
