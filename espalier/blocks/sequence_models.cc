#include "espalier/blocks/sequence_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/composition.h"
#include "espalier/blocks/elements.h"
#include "espalier/blocks/input_blocks.h"
#include "espalier/blocks/tensor_blocks.h"
#include "espalier/blocks/walk.h"
#include "espalier/blocks/zeros.h"
#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/ops/conv1d.h"
#include "espalier/ops/stack.h"

namespace espalier::blocks {
namespace {

struct PadSpec {
  std::int64_t before;
  std::int64_t after;
  std::int32_t width;
};

void add_ends(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const PadSpec*>(at.data);
  const Slot::Sequence from = walk.in(at, 0).sequence;
  const std::int64_t count = spec.before + from.count + spec.after;
  Slot* slots = walk.keep->slots(count * spec.width);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool inside = i >= spec.before && i < spec.before + from.count;
    for (std::int32_t j = 0; j < spec.width; ++j)
      slots[i * spec.width + j] = inside ? from.data[(i - spec.before) * spec.width + j] : walk.in(at, j + 1);
  }
  walk.out(at, 0).sequence = {slots, count};
}

class PadNode : public BlockNode {
 public:
  PadNode(std::int32_t before, std::int32_t after) : before_(before), after_(after) {}

  std::string label() const override { return fmt::format("pad({}, {})", before_, after_); }
  void infer(Inference& types) override {
    Term* element = types.unknown();
    if (find_elements(types, *this, in, element, Infinite::kRefused) == nullptr) return;
    types.output_is(*this, types.sequence(element));
    require_zeros(types, *this, element);
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Term* element = resolve(out)->items[0];
    Registers sources{emit_sequence(to, in, in_registers)};
    const Registers zero = to.registers(Emitter::width(element));
    emit_zeros(to, element, zero, where);
    sources.insert(sources.end(), zero.begin(), zero.end());
    Registers result = to.result(out, want);
    to.native<&add_ends>(sources, result, to.own(PadSpec{before_, after_, Emitter::width(element)}));
    return result;
  }

 private:
  std::int32_t before_;
  std::int32_t after_;
};

struct StackSpec {
  std::int64_t length;
  Shape element;
  SourceLine where;
};

void stack_up(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const StackSpec*>(at.data);
  const std::span<const Expr> given = detail::elements_of<Expr>(walk.in(at, 0));
  if (std::ssize(given) > spec.length)
    refuse_data(fmt::format("expected at most {} elements, but got {}", spec.length, given.size()));
  std::vector<Expr> all(given.begin(), given.end());
  if (std::ssize(all) < spec.length)
    all.resize(static_cast<std::size_t>(spec.length),
               walk.graph().constant(spec.element, 0, spec.where.file(), spec.where.line()));
  walk.out(at, 0).expr = espalier::stack(Operands(std::span<const Expr>(all), spec.where));
}

class StackNode : public BlockNode {
 public:
  explicit StackNode(std::int32_t length) : length_(length) {}

  std::string label() const override { return fmt::format("stack({})", length_); }
  void infer(Inference& types) override {
    Term* element = types.unknown();
    if (find_elements(types, *this, in, element, Infinite::kRefused) == nullptr) return;
    element = types.look(element, *this);
    if (element->is(Term::Kind::kUnknown)) return;
    if (!element->is(Term::Kind::kTensor) || element->shape.rank() == kMaxRank)
      types.refuse(*this, fmt::format("the elements of its input must be tensors of at most {} axes, but are {}",
                                      kMaxRank - 1, to_text(element)));
    types.output_is(*this, types.tensor(element->shape.inserted(0, length_)));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers result = to.result(out, want);
    to.native<&stack_up>({emit_sequence(to, in, in_registers)}, result,
                         to.own(StackSpec{length_, resolve(out)->shape.without(0), where}));
    return result;
  }

 private:
  std::int32_t length_;
};

}  // namespace

Block bidirectional(const BlockArg& forward, const BlockArg& backward) {
  const SourceLine at = forward.where();
  const auto here = [&](const Block& block) { return BlockArg(block, at.file(), at.line()); };
  const auto reversed = [&] { return here(slice({.step = -1}, at.file(), at.line())); };
  const auto outputs = [&](const BlockArg& cell) { return here(rnn(cell)) >> here(get(0, at.file(), at.line())); };
  const Block from_start = outputs(forward);
  const Block from_end = here(reversed() >> here(outputs(backward))) >> reversed();
  return here(here(all_of({here(from_start), here(from_end)}, at.file(), at.line())) >>
              here(zip(at.file(), at.line()))) >>
         here(map(here(concat({}, at.file(), at.line()))));
}

Block pad(std::int32_t before, std::int32_t after, const char* file, std::int32_t line) {
  const SourceLine where{file, line};
  if (before < 0 || after < 0)
    throw UsageError(fmt::format("pad: the numbers of elements must not be negative, but are {} and {}\n  at {}",
                                 before, after, where.to_string()));
  return make_block<PadNode>(where, {}, before, after);
}

Block conv(std::int32_t width, const BlockArg& layer, Padding padding) {
  const SourceLine at = layer.where();
  if (width < 1)
    throw UsageError(fmt::format("conv: the width must be at least 1, but is {}\n  at {}", width, at.to_string()));
  const auto here = [&](const Block& block) { return BlockArg(block, at.file(), at.line()); };
  Block windows =
      here(ngrams(width, at.file(), at.line())) >> here(map(here(here(concat({}, at.file(), at.line())) >> layer)));
  if (padding == Padding::kNone) return windows;
  return here(pad((width - 1) / 2, width / 2, at.file(), at.line())) >> here(windows);
}

Block conv(std::int32_t width, const BlockArg& layer) { return conv(width, layer, Padding::kNone); }

Block child_sum(const nn::ChildSumTreeLstm& layer, const char* file, std::int32_t line) {
  return function_block(make_function_spec(layer, "child_sum()"), {file, line});
}

Block stack(std::int32_t length, const char* file, std::int32_t line) {
  const SourceLine where{file, line};
  if (length < 1)
    throw UsageError(
        fmt::format("stack: the length must be at least 1, but is {}\n  at {}", length, where.to_string()));
  return make_block<StackNode>(where, {}, length);
}

}  // namespace espalier::blocks
