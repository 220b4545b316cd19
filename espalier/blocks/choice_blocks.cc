/// one_of(), optional().
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/choice.h"
#include "espalier/blocks/composition.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/key_reader.h"
#include "espalier/blocks/tensor_blocks.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {
namespace {

struct CaseSpec {
  const InputType* type;
  std::vector<Key> keys;
  DirectKey direct;
  std::vector<std::int64_t> numbers;        // of keys that are numbers, for a direct key
  std::vector<const Instruction*> targets;  // of the cases
};

[[noreturn]] void refuse_case(const CaseSpec& spec, const KeyView& key) {
  std::string known;
  for (const Key& each : spec.keys) known += (known.empty() ? "" : ", ") + each.to_text();
  refuse_data(fmt::format("there is no case {}; the cases are {}", key.to_text(), known));
}

const Instruction* choose(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const CaseSpec*>(at.data);
  const KeyView key = read_key(*spec.type, walk.in(at, 0).input);
  for (std::size_t i = 0; i < spec.keys.size(); ++i)
    if (key.is(spec.keys[i])) return spec.targets[i];
  refuse_case(spec, key);
}

const Instruction* choose_directly(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const CaseSpec*>(at.data);
  const void* object = walk.in(at, 0).input;
  if (object == nullptr) refuse_data("the input is null");
  const std::int64_t number = spec.direct.read(spec.direct.member.get(), object);
  for (std::size_t i = 0; i < spec.numbers.size(); ++i)
    if (spec.numbers[i] == number) return spec.targets[i];
  refuse_case(spec, {.number = number});
}

/// Children: the key, what comes before the cases, the cases.
class OneOfNode : public BlockNode {
 public:
  OneOfNode(std::vector<Key> keys, DirectKey direct) : keys_(std::move(keys)), direct_(std::move(direct)) {}

  std::string label() const override { return fmt::format("one_of({} cases)", keys_.size()); }
  void infer(Inference& types) override {
    BlockNode& reader = *children[0].node;
    BlockNode& before = *children[1].node;
    types.equal(*this, in, "it is given", before.in, before.title() + " takes");
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      BlockNode& each = *children[i + kFirstCase].node;
      types.equal(*this, each.in, fmt::format("case {} takes", keys_[i].to_text()), before.out, "the cases are given");
      types.equal(*this, each.out, fmt::format("case {} gives", keys_[i].to_text()), out, "the output must be");
    }
    Term* keyed = types.look(in, *this);
    if (keyed->is(Term::Kind::kTuple) && !keyed->items.empty()) keyed = types.look(keyed->items[0], *this);
    if (keyed->is(Term::Kind::kUnknown)) return;
    if (!keyed->is(Term::Kind::kInput))
      types.refuse_kind(*this, in, "data (input<T>), or a tuple that begins with data");
    types.equal(*this, keyed, "it is given", reader.in, "its key is read from");
    Term* made = types.look(reader.out, *this);
    if (!made->is(Term::Kind::kUnknown) &&
        (!made->is(Term::Kind::kInput) || (made->input->integer == nullptr && made->input->text == nullptr)))
      types.refuse(*this, fmt::format("its key must be a whole number or a string, but is {}", to_text(made)));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    CaseSpec spec{resolve(children[0].node->out)->input, keys_, direct_, {}, {}};
    for (const Key& key : keys_)
      if (!key.is_text()) spec.numbers.push_back(key.number());
    const bool directly = direct_.read != nullptr && spec.numbers.size() == keys_.size();
    spec.targets.resize(keys_.size());
    const Registers read = directly ? Registers{in_registers[0]} : to.emit_child(*this, 0, {in_registers[0]});
    const Registers given = to.emit_child(*this, 1, in_registers);
    Registers result = to.result(out, want);
    CaseSpec* const owned = to.own(std::move(spec));
    to.add(directly ? &choose_directly : &choose, read, {}, owned);
    std::vector<std::int32_t> ends;  // of all cases but the last, which goes on as it is
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i > 0) ends.push_back(to.jump());
      to.refer(owned->targets[i], to.here());
      to.emit_child(*this, i + kFirstCase, given, &result);
    }
    for (const std::int32_t end : ends) to.jump_to(end, to.here());
    return result;
  }

 private:
  static constexpr std::size_t kFirstCase = 2;
  std::vector<Key> keys_;
  DirectKey direct_;
};

/// Goes on elsewhere for null.
const Instruction* jump_if_null(Walk& walk, const Instruction& at) {
  return is_null(*static_cast<const InputType*>(at.data), walk.in(at, 0).input) ? at.other : &at + 1;
}

class OptionalNode : public BlockNode {
 public:
  std::string label() const override { return "optional()"; }
  void infer(Inference& types) override {
    BlockNode& some = *children[0].node;
    types.equal(*this, in, "it is given", some.in, some.title() + " takes");
    types.equal(*this, some.out, some.title() + " gives", out, "its output must be");
    types.gets_nothing(*this, *children[1].node, "its block for null");
    types.equal(*this, children[1].node->out, "for null it gives", out, "otherwise");
    Term* given = types.look(in, *this);
    if (!given->is(Term::Kind::kUnknown) && !given->is(Term::Kind::kInput))
      types.refuse_kind(*this, given, "data (input<T>)");
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers result = to.result(out, want);
    const std::int32_t choice = to.add(&jump_if_null, in_registers, {}, resolve(in)->input);
    to.emit_child(*this, 0, in_registers, &result);
    const std::int32_t over = to.jump();
    to.jump_to(choice, to.here());
    to.emit_child(*this, 1, {}, &result);
    to.jump_to(over, to.here());
    return result;
  }
};

Block make_one_of(const KeyFunction& key, const std::vector<Case>& cases, const Block& before, SourceLine where) {
  std::vector<NamedChild> children{{key.block()}, {before}};
  std::vector<Key> keys;
  if (cases.empty()) throw UsageError("one_of: it needs at least one case\n  at " + where.to_string());
  for (const Case& each : cases) {
    if (std::find(keys.begin(), keys.end(), each.key) != keys.end())
      throw UsageError(fmt::format("one_of: case {} is given twice\n  at {}", each.key.to_text(), where.to_string()));
    keys.push_back(each.key);
    children.push_back({each.block.block(), each.key.is_text() ? each.key.text() : each.key.to_text()});
  }
  return make_block<OneOfNode>(where, children, std::move(keys), key.direct());
}

}  // namespace

KeyFunction key(std::string name, const char* file, std::int32_t line) {
  return KeyFunction(get(std::move(name), file, line));
}

KeyFunction itself(const char* file, std::int32_t line) { return KeyFunction(identity(file, line)); }

Block one_of(const KeyFunction& key, const std::vector<Case>& cases, const char* file, std::int32_t line) {
  return make_one_of(key, cases, identity(file, line), {file, line});
}

Block one_of(const KeyFunction& key, const std::vector<Case>& cases, const BlockArg& before) {
  return make_one_of(key, cases, before.block(), before.where());
}

Block optional(const BlockArg& some) {
  return optional(some, zeros(std::nullopt, some.where().file(), some.where().line()));
}

Block optional(const BlockArg& some, const BlockArg& none) {
  return make_block<OptionalNode>(some.where(), {{some.block()}, {none.block()}});
}

}  // namespace espalier::blocks
