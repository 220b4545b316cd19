#include "espalier/blocks/tensor_blocks.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/walk.h"
#include "espalier/blocks/zeros.h"

namespace espalier::blocks {
namespace {

/// What gives the same tensor whatever its input is.
class SourceNode : public BlockNode {
 public:
  bool ignores_input() const override { return true; }
};

struct ConstantSpec {
  Tensor tensor;
  SourceLine where;
};

void make_constant(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const ConstantSpec*>(at.data);
  Graph& graph = walk.graph();
  const Tensor& tensor = spec.tensor;
  walk.out(at, 0).expr =
      graph.input(tensor.dtype() == graph.options().dtype ? tensor : tensor.to(graph.options().dtype),
                  spec.where.file(), spec.where.line());
}

class ConstantNode : public SourceNode {
 public:
  explicit ConstantNode(const Tensor& tensor) : tensor_(tensor) {}
  std::string label() const override { return fmt::format("from_tensor({})", tensor_.shape().to_string()); }
  void infer(Inference& types) override { types.output_is(*this, types.tensor(tensor_.shape())); }
  Registers emit(Emitter& to, const Registers&, const Registers* want) override {
    Registers result = to.result(out, want);
    to.native<&make_constant>({}, result, to.own(ConstantSpec{tensor_, where}));
    return result;
  }

 private:
  Tensor tensor_;
};

void use_parameter(Walk& walk, const Instruction& at) {
  walk.out(at, 0).expr = walk.graph().parameter(*static_cast<const Parameter*>(at.data));
}

class ParameterNode : public SourceNode {
 public:
  explicit ParameterNode(const Parameter& parameter) : parameter_(parameter) {}
  std::string label() const override { return fmt::format("from_tensor(parameter \"{}\")", parameter_.name()); }
  void infer(Inference& types) override { types.output_is(*this, types.tensor(parameter_.shape())); }
  Registers emit(Emitter& to, const Registers&, const Registers* want) override {
    Registers result = to.result(out, want);
    to.native<&use_parameter>({}, result, &parameter_);
    return result;
  }

 private:
  const Parameter& parameter_;
};

struct ZeroSpec {
  Shape shape;
  SourceLine where;
};

void make_zeros(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const ZeroSpec*>(at.data);
  walk.out(at, 0).expr = walk.graph().constant(spec.shape, 0, spec.where.file(), spec.where.line());
}

void make_empty(Walk& walk, const Instruction& at) { walk.out(at, 0).sequence = {nullptr, 0}; }

class ZerosNode : public SourceNode {
 public:
  std::string label() const override { return "zeros()"; }
  void infer(Inference& types) override { require_zeros(types, *this, out); }
  Registers emit(Emitter& to, const Registers&, const Registers* want) override {
    Registers result = to.result(out, want);
    emit_zeros(to, out, result, where);
    return result;
  }
};

}  // namespace

void require_zeros(Inference& types, BlockNode& who, Term* type) {
  type = types.look(type, who);
  if (type->is(Term::Kind::kInput) || type->is(Term::Kind::kInfinite))
    types.refuse(who, fmt::format("there are no zeros of {}", to_text(type)));
  if (type->is(Term::Kind::kTuple))
    for (Term* item : type->items) require_zeros(types, who, item);
}

void emit_zeros(Emitter& to, Term* type, const Registers& into, SourceLine where) {
  type = resolve(type);
  if (type->is(Term::Kind::kTensor)) {
    to.native<&make_zeros>({}, into, to.own(ZeroSpec{type->shape, where}));
  } else if (type->is(Term::Kind::kSequence)) {
    to.native<&make_empty>({}, into);
  } else {
    auto next = into.begin();
    for (Term* item : type->items) {
      const auto end = next + Emitter::width(item);
      emit_zeros(to, item, {next, end}, where);
      next = end;
    }
  }
}

Block tensor_block(const Tensor& tensor, SourceLine where) {
  if (tensor.dtype() == DType::kInt32)
    throw UsageError(fmt::format("from_tensor: expected a float32 or float64 tensor, but got an int32 one\n  at {}",
                                 where.to_string()));
  return make_block<ConstantNode>(where, {}, tensor);
}

Block parameter_block(const Parameter& parameter, SourceLine where) {
  return make_block<ParameterNode>(where, {}, parameter);
}

Block zeros(const std::optional<Type>& type, const char* file, std::int32_t line) {
  const Block block = make_block<ZerosNode>({file, line}, {});
  return type ? block.gives(*type, file, line) : block;
}

}  // namespace espalier::blocks
