#include "espalier/blocks/dynamic_function.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/function_block.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {
namespace {

struct DynamicSpec {
  std::shared_ptr<const DynamicFunction> function;
  Type argument;
  Type result;
};

void refuse_result(const Type& given, const Type& expected) {
  refuse_data(fmt::format("it gives {}, but gave {} when the model was wired: its types must not depend on the data",
                          given.to_text(), expected.to_text()));
}

std::int64_t slots_of(const Type& type) {
  if (type.is(Type::Kind::kTensor) || type.is(Type::Kind::kInput) || type.is(Type::Kind::kSequence)) return 1;
  std::int64_t count = 0;
  for (const Type& item : type.items()) count += slots_of(item);
  return count;
}

/// Writes a result to slots, and goes on behind it.
void write_result(const Output& result, const Type& expected, Keep& keep, Slot*& to) {
  if (result.type().kind() != expected.kind()) refuse_result(result.type(), expected);
  switch (expected.kind()) {
    case Type::Kind::kTensor:
      if (result.type() != expected) refuse_result(result.type(), expected);
      (to++)->expr = result.leaf();
      break;
    case Type::Kind::kInput:
      if (result.type() != expected) refuse_result(result.type(), expected);
      (to++)->input = result.address();
      break;
    case Type::Kind::kVoid: break;
    case Type::Kind::kSequence: {
      const auto count = static_cast<std::int64_t>(result.size());
      Slot* const elements = keep.slots(count * slots_of(expected.element()));
      Slot* next = elements;
      for (const Output& item : result.items()) write_result(item, expected.element(), keep, next);
      (to++)->sequence = {elements, count};
      break;
    }
    default:
      if (result.size() != expected.items().size()) refuse_result(result.type(), expected);
      for (std::size_t i = 0; i < result.size(); ++i) write_result(result[i], expected.items()[i], keep, to);
  }
}

void call_dynamic(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const DynamicSpec*>(at.data);
  std::vector<Slot> argument;
  std::vector<Slot> result;
  const std::size_t arguments = spec.argument.is(Type::Kind::kVoid) ? 0 : static_cast<std::size_t>(at.number);
  for (std::size_t i = 0; i < arguments; ++i) argument.push_back(walk.in(at, static_cast<std::int32_t>(i)));
  result.resize(static_cast<std::size_t>(at.count) + 1);
  const Slot* from = argument.data();
  const Output given = read_output(spec.argument, from, walk.keep);
  const Output made = (*spec.function)({walk.graph(), *walk.keep, false}, given);
  Slot* to = result.data();
  write_result(made, spec.result, *walk.keep, to);
  for (std::int32_t i = 0; i < at.count; ++i) walk.out(at, i) = result[static_cast<std::size_t>(i)];
}

class DynamicNode : public BlockNode {
 public:
  DynamicNode(std::string label, std::shared_ptr<const DynamicFunction> function)
      : label_(std::move(label)), function_(std::move(function)) {}

  std::string label() const override { return label_; }

  void infer(Inference& types) override {
    if (!types.look_whole(in, *this) || is_rehearsed_) return;
    is_rehearsed_ = true;
    const Type argument = type_of(in);
    std::optional<Type> result;
    try {
      result = rehearse(argument);
    } catch (const CannotRehearse&) {
      return;  // its output must come from elsewhere: from what follows, or from gives()
    } catch (const UsageError& error) {
      types.refuse(*this, fmt::format("it refuses {}:\n{}", argument.to_text(), types.without_place(error.what())));
    } catch (const std::exception& error) {
      types.refuse(*this, fmt::format("it throws when it is given {}: {}", argument.to_text(), error.what()));
    }
    types.output_is(*this, types.of(*result));
  }

  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers result = to.result(out, want);
    Instruction& instruction = to.instruction(
        to.native<&call_dynamic>(in_registers, result, to.own(DynamicSpec{function_, type_of(in), type_of(out)})));
    instruction.count = static_cast<std::int32_t>(result.size());
    instruction.number = static_cast<std::int32_t>(in_registers.size());
    return result;
  }

 private:
  Type rehearse(const Type& argument) const {
    try {
      return rehearse(argument, DType::kFloat32);
    } catch (const UsageError&) {  // the parameters may be float64
      const std::exception_ptr first = std::current_exception();
      try {
        return rehearse(argument, DType::kFloat64);
      } catch (const Error&) {
        std::rethrow_exception(first);
      }
    }
  }
  Type rehearse(const Type& argument, DType dtype) const {
    Graph graph({.dtype = dtype, .expand_cells = true});
    const auto keep = std::make_shared<Keep>();
    std::vector<Slot> slots;
    add_stand_ins(graph, argument, where, *keep, slots);
    const Slot* from = slots.data();
    return (*function_)({graph, *keep, true}, read_output(argument, from, keep)).type();
  }

  std::string label_;
  std::shared_ptr<const DynamicFunction> function_;
  bool is_rehearsed_ = false;
};

}  // namespace

Block dynamic_function(std::string label, DynamicFunction f, SourceLine where) {
  return make_block<DynamicNode>(where, {}, std::move(label), std::make_shared<const DynamicFunction>(std::move(f)));
}

}  // namespace espalier::blocks
