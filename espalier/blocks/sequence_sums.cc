/// sum(), min(), max(), mean(), length(): one number or tensor of a whole sequence.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "espalier/blocks/build.h"
#include "espalier/blocks/elements.h"
#include "espalier/blocks/function.h"
#include "espalier/blocks/sequence.h"
#include "espalier/blocks/walk.h"
#include "espalier/blocks/zeros.h"
#include "espalier/ops/maximum.h"
#include "espalier/ops/mean.h"
#include "espalier/ops/minimum.h"
#include "espalier/ops/sum.h"

namespace espalier::blocks {
namespace {

struct SumSpec {
  Expr (*op)(const Operands& x);
  Shape shape;
  SourceLine where;
};

void add_up(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const SumSpec*>(at.data);
  const std::span<const Expr> elements = detail::elements_of<Expr>(walk.in(at, 0));
  Expr& result = walk.out(at, 0).expr;
  if (elements.empty())
    result = walk.graph().constant(spec.shape, 0, spec.where.file(), spec.where.line());
  else
    result = elements.size() == 1 ? elements[0] : spec.op(Operands(elements, spec.where));
}

class SumNode : public BlockNode {
 public:
  SumNode(std::string label, Expr (*op)(const Operands& x)) : label_(std::move(label)), op_(op) {}

  std::string label() const override { return label_; }
  void infer(Inference& types) override {
    find_elements(types, *this, in, out, Infinite::kRefused);
    Term* element = types.look(out, *this);
    if (!element->is(Term::Kind::kUnknown) && !element->is(Term::Kind::kTensor))
      types.refuse(*this, fmt::format("the elements of its input must be tensors, but are {}", to_text(element)));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers result = to.result(out, want);
    to.native<&add_up>({emit_sequence(to, in, in_registers)}, result, to.own(SumSpec{op_, resolve(out)->shape, where}));
    return result;
  }

 private:
  std::string label_;
  Expr (*op_)(const Operands& x);
};

void count(Walk& walk, const Instruction& at) {
  const auto& where = *static_cast<const SourceLine*>(at.data);
  walk.out(at, 0).expr =
      walk.graph().constant(Shape(), static_cast<double>(walk.in(at, 0).sequence.count), where.file(), where.line());
}

class LengthNode : public BlockNode {
 public:
  std::string label() const override { return "length()"; }
  void infer(Inference& types) override {
    types.output_is(*this, types.tensor({}));
    Term* given = types.look(in, *this);
    // The items of a tuple need not be equal to be counted.
    if (!given->is(Term::Kind::kTuple)) find_elements(types, *this, in, types.unknown(), Infinite::kRefused);
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers result = to.result(out, want);
    to.native<&count>({emit_sequence(to, in, in_registers)}, result, to.own(where));
    return result;
  }
};

}  // namespace

Block sum(const char* file, std::int32_t line) {
  return make_block<SumNode>({file, line}, {}, "sum()", [](const Operands& x) { return espalier::sum(x); });
}

Block min(const char* file, std::int32_t line) {
  return make_block<SumNode>({file, line}, {}, "min()", [](const Operands& x) { return espalier::minimum(x); });
}

Block max(const char* file, std::int32_t line) {
  return make_block<SumNode>({file, line}, {}, "max()", [](const Operands& x) { return espalier::maximum(x); });
}

Block mean(const char* file, std::int32_t line) {
  return make_block<SumNode>({file, line}, {}, "mean()", [](const Operands& x) { return espalier::mean(x); });
}

Block length(const char* file, std::int32_t line) { return make_block<LengthNode>({file, line}, {}); }

}  // namespace espalier::blocks
