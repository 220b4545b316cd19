/// forward(), shared().
#include <fmt/format.h>

#include <string>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/choice.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {
namespace {

/// Its child is what it was resolved to.
class ForwardNode : public BlockNode {
 public:
  explicit ForwardNode(std::string name_of_block) { name = std::move(name_of_block); }

  std::string label() const override { return "forward()"; }
  bool is_declaration() const override { return true; }
  void infer(Inference& types) override {
    if (children.empty()) return;
    types.equal(*this, in, "it is given", children[0].node->in, "the block it is resolved to takes");
    types.equal(*this, children[0].node->out, "the block it is resolved to gives", out, "its output must be");
  }
  void check() const override {
    if (children.empty())
      throw UsageError(
          fmt::format("{}: it was never resolved; call resolve_to()\n  made at {}", title(), where.to_string()));
    // Declarations that are resolved to each other, and to nothing else, would call each other for ever.
    const BlockNode* next = children[0].node;
    while (next != this && next->is_declaration() && !next->children.empty()) next = next->children[0].node;
    if (next == this)
      throw UsageError(
          fmt::format("{}: it is resolved to itself, so it would never end\n  made at {}", title(), where.to_string()));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    return to.emit_call(*children[0].node, name, in_registers, want);
  }
};

struct SharedSpec {
  std::int32_t memo;
  const InputType* type;
  std::int32_t width;
};

const void* identity_of(const SharedSpec& spec, const void* object) {
  return object != nullptr && spec.type->identity != nullptr ? spec.type->identity(object) : object;
}

/// Goes on elsewhere where the result is known, and loaded.
const Instruction* recall(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const SharedSpec*>(at.data);
  const MemoTable::Found known = walk.memo().find_or_begin(spec.memo, identity_of(spec, walk.in(at, 0).input));
  if (known.state == MemoTable::State::kBegun)
    refuse_data("the data contain a cycle: the result of this part is needed to compute it");
  if (known.state != MemoTable::State::kStored) return &at + 1;
  for (std::int32_t i = 0; i < spec.width; ++i) walk.out(at, i) = known.slots[i];
  return at.other;
}

void remember(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const SharedSpec*>(at.data);
  Slot* to =
      walk.memo().store(spec.memo, identity_of(spec, walk.in(at, 0).input), static_cast<std::size_t>(spec.width));
  for (std::int32_t i = 0; i < spec.width; ++i) to[i] = walk.in(at, i + 1);
}

class SharedNode : public BlockNode {
 public:
  std::string label() const override { return "shared()"; }
  void infer(Inference& types) override {
    BlockNode& body = *children[0].node;
    types.equal(*this, in, "it is given", body.in, body.title() + " takes");
    types.equal(*this, body.out, body.title() + " gives", out, "its output must be");
    Term* given = types.look(in, *this);
    if (!given->is(Term::Kind::kUnknown) && !given->is(Term::Kind::kInput))
      types.refuse_kind(*this, given, "data (input<T>)");
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers*) override {
    const SharedSpec* spec = to.own(SharedSpec{to.memo_of(*this), resolve(in)->input, Emitter::width(out)});
    // Registers of its own: the input is looked at again when the result is there.
    Registers result = to.registers(Emitter::width(out));
    const std::int32_t choice = to.add(&recall, in_registers, result, spec);
    to.emit_child(*this, 0, in_registers, &result);
    Registers stored = in_registers;
    stored.insert(stored.end(), result.begin(), result.end());
    to.native<&remember>(stored, {}, spec);
    to.jump_to(choice, to.here());
    return result;
  }
};

}  // namespace

Forward forward(std::string name, const char* file, std::int32_t line) {
  return Forward(make_block<ForwardNode>({file, line}, {}, std::move(name)));
}

void Forward::resolve_to(const BlockArg& body) const {
  BlockNode& node = *block_.node();
  if (!node.children.empty())
    throw UsageError(fmt::format("{}: it was resolved before\n  at {}", node.title(), body.where().to_string()));
  if (body.block().node() == &node)
    throw UsageError(fmt::format("{}: it is resolved to itself, so it would never end\n  at {}", node.title(),
                                 body.where().to_string()));
  take_in(block_, body.block());
  try {
    rewire(block_, body.where());
  } catch (...) {
    give_up(block_);
    throw;
  }
}

Block shared(const BlockArg& block) { return make_block<SharedNode>(block.where(), {{block.block()}}); }

}  // namespace espalier::blocks
