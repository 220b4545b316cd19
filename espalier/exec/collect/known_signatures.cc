#include "espalier/exec/collect/known_signatures.h"

namespace espalier::exec {

void KnownSignatures::find(SignatureFacts& of, NodeId node) const {
  const Signature& signature = graph_.signature(node);
  of.info = signature.info;
  of.kind = of.info->kind;
  of.results = of.info->results;
  of.reads_row = of.info->reads_row != nullptr;
  of.is_view = signature.view >= 0 || of.reads_row;
  of.takes_apart = of.info->takes_whole && of.kind == Kind::kCell;
  of.is_lookup = of.info->table_row != nullptr && graph_.parameter_of(graph_.inputs(node)[0]) != nullptr;
  of.operands = static_cast<std::int32_t>(graph_.inputs(node).size());
  if (of.info->takes_any_number()) {
    of.operands = SignatureFacts::kAll;
    return;
  }
  const auto is_parameter = [&](std::int32_t i) {
    const auto operand = static_cast<std::size_t>(i);
    return is_shared_operand(graph_, node, operand) && graph_.inputs(graph_.inputs(node)[operand]).empty();
  };
  while (of.operands > 0 && is_parameter(of.operands - 1)) --of.operands;
}

}  // namespace espalier::exec
