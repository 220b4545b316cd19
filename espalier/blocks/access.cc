#include "espalier/blocks/access.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier::blocks {
namespace {

const InputField* find_field(const InputType& whole, const std::string& name, std::int64_t place) {
  if (!name.empty()) {
    const auto found = std::find_if(whole.fields.begin(), whole.fields.end(),
                                    [&](const InputField& field) { return field.name == name; });
    return found == whole.fields.end() ? nullptr : &*found;
  }
  const std::int64_t count = std::ssize(whole.fields);
  if (place < 0) place += count;
  return place >= 0 && place < count ? &whole.fields[static_cast<std::size_t>(place)] : nullptr;
}

std::string keys_of(const InputType& whole) {
  std::string keys;
  for (const InputField& field : whole.fields) keys += (keys.empty() ? "" : ", ") + field.name;
  return keys;
}

const void* element_at(const InputType& type, const void* object, std::int64_t place, Keep& keep) {
  const std::int64_t size = type.size(object);
  const std::int64_t at = place < 0 ? place + size : place;
  if (at < 0 || at >= size) refuse_data(fmt::format("there is no element {} in a list of {}", place, size), object);
  Slot* slots = keep.slots(size);
  type.elements(object, slots, keep);
  return slots[at].input;
}

struct SizeSpec {
  const InputType* type;
  std::int64_t size;
};

void require_size(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const SizeSpec*>(at.data);
  const void* object = walk.in(at, 0).input;
  if (is_null(*spec.type, object)) refuse_data(fmt::format("expected a list of {}, but got null", spec.size));
  const std::int64_t size = spec.type->size(object);
  if (size != spec.size) refuse_data(fmt::format("expected a list of {}, but got one of {}", spec.size, size));
}

void access(Walk& walk, const Instruction& at) {
  const auto& part = *static_cast<const Access*>(at.data);
  walk.out(at, 0).input = read_part(part, walk, walk.in(at, 0).input);
}

}  // namespace

const InputType& part_type(Inference& types, const BlockNode& who, const InputType& whole, const std::string& name,
                           std::int64_t place) {
  if (const InputField* field = find_field(whole, name, place)) return field->type();
  const std::string wanted = name.empty() ? fmt::format("{}", place) : fmt::format("\"{}\"", name);
  if (!whole.fields.empty())
    types.refuse(who, fmt::format("input<{}> has no field {}; it has {}", whole.name, wanted, keys_of(whole)));
  if (!name.empty() && whole.entry != nullptr) return whole.entry();
  if (name.empty() && whole.element != nullptr) return whole.element();
  types.refuse(who, fmt::format("cannot take {} of input<{}>: it has no parts", wanted, whole.name));
}

Access make_access(Emitter& to, const InputType& whole, const std::string& name, std::int64_t place) {
  Access result{&whole, name, place, find_field(whole, name, place), 0};
  if (!name.empty() && result.field == nullptr) result.hint = to.new_hint();
  return result;
}

const void* find_part(const Access& access, Walk& walk, const void* object) {
  if (is_null(*access.type, object))
    refuse_data(access.name.empty() ? fmt::format("cannot take element {}: the input is null", access.place)
                                    : fmt::format("cannot take \"{}\": the input is null", access.name));
  if (access.field != nullptr) return access.field->get(object, *walk.keep);
  if (!access.name.empty()) return access.type->find(object, access.name, walk.hint(access.hint), *walk.keep);
  return element_at(*access.type, object, access.place, *walk.keep);
}

const void* read_part(const Access& access, Walk& walk, const void* object) {
  const void* part = find_part(access, walk, object);
  if (part == nullptr && access.field == nullptr && !access.name.empty())
    refuse_data(fmt::format("the input has no \"{}\": {}", access.name, describe(*access.type, object)));
  return part;
}

void emit_require_size(Emitter& to, const InputType& type, std::int64_t size, std::int32_t from) {
  to.native<&require_size>({from}, {}, to.own(SizeSpec{&type, size}));
}

void emit_access(Emitter& to, const InputType& whole, const std::string& name, std::int64_t place, std::int32_t from,
                 std::int32_t into) {
  to.native<&access>({from}, {into}, to.own(make_access(to, whole, name, place)));
}

}  // namespace espalier::blocks
