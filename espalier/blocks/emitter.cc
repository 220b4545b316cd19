#include "espalier/blocks/emitter.h"

#include <algorithm>

#include "espalier/blocks/collect.h"
#include "espalier/blocks/root_input.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {

std::int32_t Emitter::width(Term* type) {
  type = resolve(type);
  switch (type->kind) {
    case Term::Kind::kTuple:
    case Term::Kind::kInfinite: {
      std::int32_t sum = 0;
      for (Term* item : type->items) sum += width(item);
      return sum;
    }
    case Term::Kind::kVoid: return 0;
    default: return 1;
  }
}

Registers Emitter::registers(std::int32_t count) {
  Registers result;
  for (std::int32_t i = 0; i < count; ++i) result.push_back(next_register_++);
  return result;
}

Registers Emitter::result(Term* type, const Registers* want) {
  return want != nullptr ? *want : registers(width(type));
}

const Offset* Emitter::list(const Registers& registers) {
  if (registers.empty()) return nullptr;
  auto* list = code_.lists.allocate_array<Offset>(std::ssize(registers));
  std::transform(registers.begin(), registers.end(), list, [](std::int32_t number) { return Offset(number); });
  return list;
}

std::int32_t Emitter::add(Step step, const Registers& in, const Registers& out, const void* data) {
  Instruction instruction;
  instruction.step = step;
  instruction.in = list(in);
  instruction.out = list(out);
  instruction.path = path_;
  instruction.data = data;
  code_.instructions.push_back(instruction);
  code_.labels.push_back(label_);
  code_.reads.push_back(static_cast<std::int32_t>(in.size()));
  targets_.push_back(-1);
  return size() - 1;
}

std::int32_t Emitter::jump() { return add(&Walk::jump, {}, {}); }

Instruction* Emitter::last(Step step, std::int32_t makes) {
  if (code_.instructions.empty() || target_ == size()) return nullptr;
  Instruction& last = code_.instructions.back();
  return last.step == step && last.out != nullptr && last.out[0].bytes == Offset(makes).bytes ? &last : nullptr;
}

void Emitter::move(const Registers& from, const Registers& to) {
  if (from == to) return;
  Registers sources;
  Registers targets;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[i]) {
      sources.push_back(from[i]);
      targets.push_back(to[i]);
    }
  // One after the other: a source that an earlier move overwrites is saved first.
  const bool overlap = std::any_of(sources.begin(), sources.end(), [&](std::int32_t source) {
    return std::find(targets.begin(), targets.end(), source) != targets.end();
  });
  if (overlap) {
    const Registers saved = registers(static_cast<std::int32_t>(sources.size()));
    move(sources, saved);
    sources = saved;
  }
  const std::int32_t at = add(&Walk::move, sources, targets);
  instruction(at).count = static_cast<std::int32_t>(sources.size());
}

std::int32_t Emitter::enter(const std::string& part) {
  const std::int32_t before = path_;
  if (!part.empty()) {
    path_ = static_cast<std::int32_t>(code_.paths.size());
    code_.paths.push_back({before, part});
  }
  return before;
}

bool Emitter::is_watched(const BlockNode& node) const {
  if (node.name.empty()) return false;
  const std::string path = code_.path(path_);
  return std::any_of(watched_.begin(), watched_.end(),
                     [&](const std::string& name) { return name == node.name || name == path; });
}

Registers Emitter::emit(BlockNode& node, const Registers& in, const Registers* want) {
  const std::int32_t path_before = enter(node.name);
  const std::string label_before = std::exchange(label_, node.label());
  Registers result = node.emit(*this, in, want);
  if (want != nullptr && result != *want) {
    move(result, *want);
    result = *want;
  }
  if (is_watched(node)) emit_tap(*this, code_.path(path_), type_of(node.out), result);
  label_ = label_before;
  path_ = path_before;
  return result;
}

Registers Emitter::emit_child(const BlockNode& parent, std::size_t child, const Registers& in, const Registers* want) {
  const std::int32_t before = enter(parent.children[child].label);
  Registers result = emit(*parent.children[child].node, in, want);
  path_ = before;
  return result;
}

Registers Emitter::emit_call(BlockNode& body, const std::string& name, const Registers& in, const Registers* want) {
  auto [known, is_new] = body_of_.try_emplace(&body, bodies_.size());
  if (is_new) bodies_.push_back({own(Procedure()), &body, name});
  Procedure* procedure = bodies_[known->second].procedure;
  Registers out = result(body.out, want);
  if (Instruction* read = in.size() == 1 ? last(&Walk::field, in[0]) : nullptr) {
    const auto& field = *static_cast<const FieldSpec*>(read->data);
    read->step = &Walk::call_with_field;
    read->out = list(out);
    read->data = own(FieldCallSpec{field, Offset(in[0]), procedure});
    calls_.push_back(size() - 1);
  } else {
    calls_.push_back(add(&Walk::call, in, out, procedure));
  }
  return out;
}

void Emitter::end_frame(Procedure& procedure) {
  procedure.frame = next_register_;
  for (const std::int32_t call : calls_) instruction(call).count = next_register_ + Walk::kBetweenFrames;
  calls_.clear();
}

void Emitter::write(Body& body) {
  BlockNode& node = *body.node;
  Procedure& procedure = *body.procedure;
  path_ = 0;
  enter(body.name);
  next_register_ = 0;
  refer(procedure.entry, here());
  procedure.arguments = width(node.in);
  procedure.results = width(node.out);
  const Registers arguments = registers(procedure.arguments);
  const Registers results = emit(node, arguments);
  const std::int32_t at = add(&Walk::return_to_caller, results, {});
  instruction(at).count = procedure.results;
  end_frame(procedure);
}

void Emitter::emit_root(BlockNode& root, const InputType& given) {
  code_.input = &given;
  refer(code_.root.entry, here());
  code_.root.arguments = 1;
  code_.root.results = width(root.out);
  const Registers arguments = registers(1);
  const Registers loaded = emit_root_input(*this, given, root.in, arguments, root.where);
  const Registers results = emit(root, loaded);
  const std::int32_t at = add(&Walk::finish, results, {});
  instruction(at).count = code_.root.results;
  end_frame(code_.root);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    Body body = bodies_[i];  // writing it may add others
    write(body);
  }
  link();
}

void Emitter::link() {
  for (std::int32_t at = 0; at < size(); ++at)
    if (const std::int32_t target = targets_[static_cast<std::size_t>(at)]; target >= 0)
      instruction(at).other = &instruction(target);
  for (const Reference& reference : references_) *reference.from = &instruction(reference.target);
  for (std::int32_t at = 0; at + 1 < size(); ++at) {
    Step& step = instruction(at).step;
    const Step next = instruction(at + 1).step;
    if (step == &Walk::member && next == &Walk::apply) step = &Walk::member_and_apply;
    if (step == &Walk::call_with_field && next == &Walk::call_with_field) step = &Walk::call_twice_with_field;
  }
}

}  // namespace espalier::blocks
