/// concat(): tensors of a tuple as one, along an axis.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "espalier/blocks/build.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/tensor_blocks.h"
#include "espalier/blocks/walk.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/reshape.h"

namespace espalier::blocks {
namespace {

struct ConcatSpec {
  std::int32_t axis;
  std::vector<bool> is_number;  // of rank 0: a vector of one
  SourceLine where;
};

void join(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const ConcatSpec*>(at.data);
  ExprList parts;
  for (std::size_t i = 0; i < spec.is_number.size(); ++i) {
    const Expr& part = walk.in(at, static_cast<std::int32_t>(i)).expr;
    parts.push_back(spec.is_number[i] ? reshape(Operand(part, spec.where), {1}) : part);
  }
  const std::span<const Expr> list(parts.begin(), parts.size());
  walk.out(at, 0).expr = list.size() == 1 ? list[0] : espalier::concat(Operands(list, spec.where), spec.axis);
}

class ConcatNode : public BlockNode {
 public:
  explicit ConcatNode(const ConcatOptions& options) : options_(options) {}

  std::string label() const override {
    return options_.axis == 0 ? "concat()" : fmt::format("concat(axis {})", options_.axis);
  }
  void infer(Inference& types) override {
    Term* given = types.look(in, *this);
    if (given->is(Term::Kind::kUnknown)) return;
    if (!given->is(Term::Kind::kTuple)) types.refuse_kind(*this, given, "a tuple of tensors");
    if (!types.look_whole(in, *this)) return;
    std::vector<Shape> shapes;
    collect(types, given, shapes);
    if (shapes.empty()) types.refuse(*this, "there is nothing to concatenate");
    types.output_is(*this, types.tensor(joined(types, shapes)));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers result = to.result(out, want);
    ConcatSpec spec{axis_, {}, where};
    for (const Type& type : type_of(in).terminals()) spec.is_number.push_back(type.shape().rank() == 0);
    to.native<&join>(in_registers, result, to.own(std::move(spec)));
    return result;
  }

 private:
  void collect(Inference& types, Term* tuple, std::vector<Shape>& to) const {
    for (Term* item : tuple->items) {
      item = resolve(item);
      if (item->is(Term::Kind::kTensor))
        to.push_back(item->shape.rank() == 0 ? Shape{1} : item->shape);
      else if (item->is(Term::Kind::kTuple) && options_.flatten)
        collect(types, item, to);
      else if (item->is(Term::Kind::kTuple))
        types.refuse(
            *this, fmt::format("its input {} contains a tuple; concat({{.flatten = true}}) flattens it", to_text(in)));
      else
        types.refuse(*this, fmt::format("it takes tensors, but its input {} contains {}", to_text(in), to_text(item)));
    }
  }
  Shape joined(Inference& types, const std::vector<Shape>& shapes) {
    const Shape& first = shapes[0];
    axis_ = options_.axis < 0 ? options_.axis + first.rank() : options_.axis;
    if (axis_ < 0 || axis_ >= first.rank())
      types.refuse(*this, fmt::format("there is no axis {} in {}", options_.axis, Type::tensor(first).to_text()));
    std::int64_t size = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].rank() != first.rank() || shapes[i].with(axis_, 0) != first.with(axis_, 0))
        types.refuse(*this, fmt::format("tensor 0 is {} and tensor {} is {}; they may differ along axis {} only",
                                        Type::tensor(first).to_text(), i, Type::tensor(shapes[i]).to_text(), axis_));
      size += shapes[i][axis_];
    }
    return first.with(axis_, size);
  }

  ConcatOptions options_;
  std::int32_t axis_ = 0;
};

}  // namespace

Block concat(const ConcatOptions& options, const char* file, std::int32_t line) {
  return make_block<ConcatNode>({file, line}, {}, options);
}

}  // namespace espalier::blocks
