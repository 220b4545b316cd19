#include "espalier/blocks/elements.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/blocks/input_type.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {
namespace {

/// The elements of an input that is a range.
void unpack(Walk& walk, const Instruction& at) {
  const auto& type = *static_cast<const InputType*>(at.data);
  const void* object = walk.in(at, 0).input;
  if (is_null(type, object)) refuse_data("expected a list, but got null");
  const std::int64_t size = type.size(object);
  Slot* slots = walk.keep->slots(size);
  type.elements(object, slots, *walk.keep);
  walk.out(at, 0).sequence = {slots, size};
}

/// The items of a tuple; `count` registers, `number` elements.
void pack(Walk& walk, const Instruction& at) {
  Slot* slots = walk.keep->slots(at.count);
  for (std::int32_t i = 0; i < at.count; ++i) slots[i] = walk.in(at, i);
  walk.out(at, 0).sequence = {slots, at.number};
}

void start(Walk& walk, const Instruction& at) { walk.out(at, 0).place = {0, walk.in(at, 0).sequence.count}; }

void allocate(Walk& walk, const Instruction& at) {
  const std::int64_t count = walk.in(at, 0).place.end;
  walk.out(at, 0).sequence = {walk.keep->slots(count * at.count), count};
}

void store_element(Walk& walk, const Instruction& at) {
  Slot* into = walk.in(at, 0).sequence.data + (walk.in(at, 1).place.next - 1) * at.count;
  for (std::int32_t i = 0; i < at.count; ++i) into[i] = walk.in(at, i + 2);
}

/// Loads the next element, or goes on elsewhere when there is none.
const Instruction* next_element(Walk& walk, const Instruction& at) {
  Slot::Place& place = walk.in(at, 1).place;
  if (place.next == place.end) return at.other;
  const Slot* from = walk.in(at, 0).sequence.data + place.next * at.count;
  for (std::int32_t i = 0; i < at.count; ++i) walk.out(at, i) = from[i];
  ++place.next;
  return &at + 1;
}

void load_element(Walk& walk, const Instruction& at) {
  const Slot* from = walk.in(at, 0).sequence.data + static_cast<std::int64_t>(at.number) * at.count;
  for (std::int32_t i = 0; i < at.count; ++i) walk.out(at, i) = from[i];
}

}  // namespace

Term* find_elements(Inference& types, BlockNode& who, Term* source, Term* element, Infinite infinite) {
  source = types.look(source, who);
  switch (source->kind) {
    case Term::Kind::kUnknown:
      types.elements_are(who, source, "an element of its input is", element, "it takes");
      return nullptr;
    case Term::Kind::kInfinite:
      if (infinite == Infinite::kRefused)
        types.refuse(who, fmt::format("it needs a sequence that ends, but is given {}", to_text(source)));
      [[fallthrough]];
    case Term::Kind::kSequence:
      types.equal(who, source->items[0], "an element of its input is", element, "it takes");
      return source;
    case Term::Kind::kTuple:
      for (std::size_t i = 0; i < source->items.size(); ++i)
        types.equal(who, source->items[i], fmt::format("item {} of its input is", i), element, "it takes");
      return source;
    case Term::Kind::kInput:
      if (source->input->element == nullptr) break;
      types.equal(who, types.input(source->input->element()), "an element of its input is", element, "it takes");
      return source;
    default: break;
  }
  types.refuse_kind(who, source, "a sequence, a tuple or data that is a list");
}

std::int32_t emit_sequence(Emitter& to, Term* source, const Registers& in) {
  source = resolve(source);
  if (source->is(Term::Kind::kSequence)) return in[0];
  const std::int32_t result = to.registers(1)[0];
  if (source->is(Term::Kind::kInput)) {
    to.native<&unpack>(in, {result}, source->input);
    return result;
  }
  const std::int32_t at = to.native<&pack>(in, {result});
  to.instruction(at).count = static_cast<std::int32_t>(in.size());
  to.instruction(at).number = static_cast<std::int32_t>(source->items.size());
  return result;
}

Loop::Loop(Emitter& to, std::int32_t sequence, Term* type)
    : element(to.registers(Emitter::width(type))), to_(to), sequence_(sequence), place_(to.registers(1)[0]) {
  to_.native<&start>({sequence_}, {place_});
}

std::int32_t Loop::results(Term* type) {
  const std::int32_t result = to_.registers(1)[0];
  const std::int32_t at = to_.native<&allocate>({place_}, {result});
  to_.instruction(at).count = Emitter::width(type);
  return result;
}

void Loop::begin() {
  next_ = to_.add(&next_element, {sequence_, place_}, element);
  to_.instruction(next_).count = static_cast<std::int32_t>(element.size());
}

void Loop::store(const Registers& value, std::int32_t into) {
  Registers in{into, place_};
  in.insert(in.end(), value.begin(), value.end());
  const std::int32_t at = to_.native<&store_element>(in, {});
  to_.instruction(at).count = static_cast<std::int32_t>(value.size());
}

void Loop::end() {
  to_.jump_to(to_.jump(), next_);
  to_.jump_to(next_, to_.here());
}

void emit_load(Emitter& to, std::int32_t sequence, std::int64_t element, const Registers& into) {
  const std::int32_t at = to.native<&load_element>({sequence}, into);
  to.instruction(at).count = static_cast<std::int32_t>(into.size());
  to.instruction(at).number = static_cast<std::int32_t>(element);
}

const Instruction* jump_if_some(Walk& walk, const Instruction& at) {
  return walk.in(at, 0).sequence.count == 0 ? &at + 1 : at.other;
}

}  // namespace espalier::blocks
