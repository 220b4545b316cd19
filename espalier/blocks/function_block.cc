/// function(): a callable as a block. Its types are found by calling it once, on a graph that computes nothing.
#include "espalier/blocks/function_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/inference.h"
#include "espalier/blocks/walk.h"
#include "espalier/graph/parameter.h"

namespace espalier::blocks {
namespace {

/// A term with all that a pattern says; what it leaves open is unknown.
Term* term_of(Inference& types, const Pattern& pattern) {
  std::vector<Term*> items;
  for (const Pattern& item : pattern.items) items.push_back(term_of(types, item));
  switch (pattern.kind) {
    case Pattern::Kind::kTuple: return types.tuple(std::move(items));
    case Pattern::Kind::kSequence: return types.sequence(items[0]);
    case Pattern::Kind::kObject: return types.input(pattern.object());
    default: return types.unknown();
  }
}

bool matches(const Pattern& pattern, const Type& type) {
  switch (pattern.kind) {
    case Pattern::Kind::kTensor: return type.is(Type::Kind::kTensor);
    case Pattern::Kind::kTuple:
      if (!type.is(Type::Kind::kTuple) || type.items().size() != pattern.items.size()) return false;
      for (std::size_t i = 0; i < pattern.items.size(); ++i)
        if (!matches(pattern.items[i], type.items()[i])) return false;
      return true;
    case Pattern::Kind::kSequence: return type.is(Type::Kind::kSequence) && matches(pattern.items[0], type.element());
    case Pattern::Kind::kObject: return type.is(Type::Kind::kInput) && type.input_of() == &pattern.object();
    case Pattern::Kind::kNumber: return type.is(Type::Kind::kInput) && type.input_of()->number != nullptr;
    case Pattern::Kind::kInteger: return type.is(Type::Kind::kInput) && type.input_of()->integer != nullptr;
    case Pattern::Kind::kText: return type.is(Type::Kind::kInput) && type.input_of()->text != nullptr;
  }
  return false;
}

std::string to_text(const Pattern& pattern) {
  const auto joined = [&] {
    std::string text;
    for (const Pattern& item : pattern.items) text += (text.empty() ? "" : ", ") + to_text(item);
    return text;
  };
  switch (pattern.kind) {
    case Pattern::Kind::kTensor: return "a tensor";
    case Pattern::Kind::kTuple: return "(" + joined() + ")";
    case Pattern::Kind::kSequence: return "seq<" + joined() + ">";
    case Pattern::Kind::kObject: return "input<" + pattern.object().name + ">";
    case Pattern::Kind::kNumber: return "data that is a number";
    case Pattern::Kind::kInteger: return "data that is a whole number";
    case Pattern::Kind::kText: return "data that is a string";
  }
  return "";
}

/// One argument is the input itself; several are the items of a tuple.
bool takes(const CallForm& form, const Type& input) {
  if (form.arguments.empty()) return true;
  if (form.arguments.size() == 1) return matches(form.arguments[0], input);
  return matches({.kind = Pattern::Kind::kTuple, .items = form.arguments}, input);
}

std::string to_text(const CallForm& form) {
  if (form.arguments.size() == 1) return to_text(form.arguments[0]);
  return to_text(Pattern{.kind = Pattern::Kind::kTuple, .items = form.arguments});
}

/// The types of the inputs, a slot each; null for what is none.
void add_input_types(const Type& type, std::vector<const InputType*>& to) {
  if (type.is(Type::Kind::kTensor) || type.is(Type::Kind::kSequence))
    to.push_back(nullptr);
  else if (type.is(Type::Kind::kInput))
    to.push_back(type.input_of());
  else
    for (const Type& item : type.items()) add_input_types(item, to);
}

/// The shapes of results may depend on it: on a length, or on what the data are. Numbers are left out: they are labels
/// and places at every node of a tree, and looking after each costs 5 % of recording.
bool varies(const Pattern& pattern) {
  return pattern.kind == Pattern::Kind::kSequence || pattern.kind == Pattern::Kind::kObject ||
         pattern.kind == Pattern::Kind::kText || std::any_of(pattern.items.begin(), pattern.items.end(), &varies);
}

void require_shape(const Expr& given, const Type& expected) {
  if (given.shape() != expected.shape())
    refuse_data(fmt::format("it gives {}, but gave {} when the model was wired: its shapes must not depend on the data",
                            Type::tensor(given.shape()).to_text(), expected.to_text()));
}

/// Where sequences or objects go in, shapes may depend on them: looks whether the results have the types they should.
const Instruction* apply_and_check(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const ApplySpec*>(at.data);
  Walk::apply(walk, at);
  for (std::size_t i = 0; i < spec.results.size(); ++i) {
    const Type& expected = spec.results[i];
    const Slot& slot = walk.out(at, static_cast<std::int32_t>(i));
    if (expected.is(Type::Kind::kTensor)) {
      require_shape(slot.expr, expected);
    } else if (expected.is(Type::Kind::kSequence)) {
      for (std::int64_t j = 0; j < slot.sequence.count; ++j)
        require_shape(slot.sequence.data[j].expr, expected.element());
    }
  }
  return &at + 1;
}

/// The types of a value, a slot each.
void add_slot_types(const Type& type, std::vector<Type>& to) {
  if (type.is(Type::Kind::kTuple))
    for (const Type& item : type.items()) add_slot_types(item, to);
  else
    to.push_back(type);
}

}  // namespace

void add_stand_ins(Graph& graph, const Type& type, SourceLine where, Keep& keep, std::vector<Slot>& to) {
  switch (type.kind()) {
    case Type::Kind::kTensor:
      to.emplace_back().expr = graph.constant(type.shape(), 0, where.file(), where.line());
      break;
    case Type::Kind::kInput: to.emplace_back(); break;
    case Type::Kind::kVoid: break;
    case Type::Kind::kSequence: {
      std::vector<Slot> elements;
      constexpr std::int64_t kElements = 2;
      for (std::int64_t i = 0; i < kElements; ++i) add_stand_ins(graph, type.element(), where, keep, elements);
      Slot* kept = keep.slots(std::ssize(elements));
      std::copy(elements.begin(), elements.end(), kept);
      to.emplace_back().sequence = {kept, kElements};
      break;
    }
    default:
      for (const Type& item : type.items()) add_stand_ins(graph, item, where, keep, to);
  }
}

Type FunctionNode::rehearse(const CallForm& form, const Type& input, DType dtype) const {
  Graph graph({.dtype = dtype, .expand_cells = true});
  Keep keep;
  std::vector<Slot> frame;
  add_stand_ins(graph, input, where, keep, frame);
  const auto first_result = frame.size();
  frame.resize(frame.size() + static_cast<std::size_t>(form.results));
  std::vector<Offset> places;
  places.reserve(frame.size());
  for (std::int32_t i = 0; i < std::ssize(frame); ++i) places.emplace_back(i);
  CallSite site{.where = where, .rehearsal = true, .in = places.data(), .out = places.data() + first_result};
  add_input_types(input, site.types);
  form.call(spec_.object.get(), {&graph, &keep, frame.data(), &site});
  const Slot* results = frame.data() + first_result;
  return form.result_type(results);
}

Type FunctionNode::result_of(const CallForm& form, const Type& input) const {
  if (form.gives_objects) {
    const Slot* none = nullptr;
    return form.result_type(none);
  }
  try {
    return rehearse(form, input, DType::kFloat32);
  } catch (const Error&) {
    // The parameters may be float64; where they are not, the first message is the right one.
    const std::exception_ptr first = std::current_exception();
    try {
      return rehearse(form, input, DType::kFloat64);
    } catch (const Error&) {
      std::rethrow_exception(first);
    }
  }
}

void FunctionNode::infer(Inference& types) {
  if (spec_.input) types.input_is(*this, types.of(*spec_.input));
  if (spec_.output) types.output_is(*this, types.of(*spec_.output));
  if (form_) return;
  if (spec_.forms.size() == 1) {
    const CallForm& only = spec_.forms[0];
    if (only.arguments.size() == 1) {
      types.input_is(*this, term_of(types, only.arguments[0]));
    } else if (!only.arguments.empty()) {
      const Pattern all{.kind = Pattern::Kind::kTuple, .items = only.arguments};
      types.input_is(*this, term_of(types, all));
    }
    if (only.gives_objects) {
      const Slot* none = nullptr;
      types.output_is(*this, types.of(only.result_type(none)));
    }
  }
  if (!types.look_whole(in, *this)) return;
  const Type input = type_of(in);
  for (std::size_t i = 0; i < spec_.forms.size() && !form_; ++i)
    if (takes(spec_.forms[i], input)) form_ = i;
  if (!form_) {
    std::string expected;
    for (const CallForm& form : spec_.forms) expected += (expected.empty() ? "" : " or ") + to_text(form);
    types.refuse_kind(*this, in, expected);
  }
  std::optional<Type> result;
  try {
    result = result_of(spec_.forms[*form_], input);
  } catch (const CannotRehearse&) {
    return;  // its output must come from elsewhere: from what follows, or from gives()
  } catch (const UsageError& error) {
    types.refuse(*this, fmt::format("it refuses {}:\n{}", input.to_text(), types.without_place(error.what())));
  } catch (const std::exception& error) {
    types.refuse(*this, fmt::format("it throws when it is given {}: {}", input.to_text(), error.what()));
  }
  types.output_is(*this, types.of(*result));
}

Registers FunctionNode::emit(Emitter& to, const Registers& in_registers, const Registers* want) {
  if (spec_.part != nullptr) {
    std::vector<MemberPart>& members = to.code().members;
    members.push_back({resolve(in)->input, resolve(out)->input, spec_.part, spec_.object.get(),
                       name.empty() ? fmt::format("member {}", members.size() + 1) : name});
    Registers part = to.result(out, want);
    if (spec_.offset)
      to.instruction(to.add(&Walk::member, in_registers, part)).number = *spec_.offset;
    else
      to.add(&Walk::field, in_registers, part, to.own(FieldSpec{spec_.part, spec_.object.get()}));
    return part;
  }
  const CallForm& form = spec_.forms[*form_];
  ApplySpec spec;
  spec.call = form.call;
  spec.object = spec_.object.get();
  spec.site.where = where;
  add_input_types(type_of(in), spec.site.types);
  const bool checked = std::any_of(form.arguments.begin(), form.arguments.end(), &varies) && !form.gives_objects;
  if (checked) add_slot_types(type_of(out), spec.results);
  Registers result = to.result(out, want);
  ApplySpec* const owned = to.own(std::move(spec));
  const Instruction& instruction =
      to.instruction(to.add(checked ? &apply_and_check : &Walk::apply, in_registers, result, owned));
  owned->site.in = instruction.in;
  owned->site.out = instruction.out;
  return result;
}

std::string detail::layer_label(const std::string& type, const Parameter& weights) {
  return fmt::format("{}({})", type, weights.name());
}

Block function_block(FunctionSpec spec, SourceLine where) {
  return make_block<FunctionNode>(where, {}, std::move(spec));
}

}  // namespace espalier::blocks
