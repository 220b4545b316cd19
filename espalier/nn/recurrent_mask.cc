#include "espalier/nn/recurrent_mask.h"

#include "espalier/ops/dropout.h"
#include "espalier/ops/mul.h"

namespace espalier::nn {

RecurrentMask::RecurrentMask(Graph& graph, std::int32_t hidden, double rate, const char* file, std::int32_t line) {
  const Expr ones = graph.constant({hidden}, 1, file, line);
  mask_ = dropout(Operand(ones, SourceLine{file, line}), rate);  // the ones themselves if nothing is dropped
  masks_ = mask_.node() != ones.node();
}

Expr RecurrentMask::operator()(Operand h) const { return masks_ ? mul(h, h.at(mask_)) : h.expr(); }

LstmState RecurrentMask::operator()(const LstmState& state, const char* file, std::int32_t line) const {
  if (state.missing()) return state;
  return {(*this)(Operand(state.h, SourceLine{file, line})), state.c};
}

std::vector<TreeState> RecurrentMask::operator()(const Children& children) const {
  std::vector<TreeState> masked;
  for (const TreeState& child : children.list())
    masked.push_back((*this)(child, children.where().file(), children.where().line()));
  return masked;
}

}  // namespace espalier::nn
