/// The node of function(), which rnn() looks at too.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/dtype.h"
#include "espalier/blocks/function.h"
#include "espalier/blocks/node.h"

namespace espalier::blocks {

class FunctionNode : public BlockNode {
 public:
  explicit FunctionNode(FunctionSpec spec) : spec_(std::move(spec)) {}

  std::string label() const override { return spec_.label; }
  void infer(Inference& types) override;
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override;
  bool ignores_input() const override { return spec_.forms[0].arguments.empty(); }
  /// A cell that takes (x, state) and gives its new state.
  bool is_recurrent() const { return spec_.recurrent; }

 private:
  Type result_of(const CallForm& form, const Type& input) const;
  Type rehearse(const CallForm& form, const Type& input, DType dtype) const;

  FunctionSpec spec_;
  std::optional<std::size_t> form_;  // the signature in use, once the input is known
};

/// Fills slots with a value of a type that has no numbers: leaves of zeros, two elements a sequence, null inputs.
void add_stand_ins(Graph& graph, const Type& type, SourceLine where, Keep& keep, std::vector<Slot>& to);

}  // namespace espalier::blocks
