/// Access: how get(), record() and key() reach a part of an input, by name or by place.
#pragma once

#include <cstdint>
#include <string>

#include "espalier/blocks/emitter.h"
#include "espalier/blocks/inference.h"
#include "espalier/blocks/input_type.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {

struct Access {
  const InputType* type = nullptr;  // of the whole
  std::string name;                 // by name, unless it is empty
  std::int64_t place = 0;           // by place; a negative one counts from the end
  const InputField* field = nullptr;
  std::int32_t hint = 0;
};

/// The type of the part; refuses (UsageError) a type that has no such part.
const InputType& part_type(Inference& types, const BlockNode& who, const InputType& whole, const std::string& name,
                           std::int64_t place);
/// For a walk. What is not there is refused (DataError).
Access make_access(Emitter& to, const InputType& whole, const std::string& name, std::int64_t place);
const void* read_part(const Access& access, Walk& walk, const void* object);
/// Null where there is no such key.
const void* find_part(const Access& access, Walk& walk, const void* object);
/// Refuses (DataError) a list of another size.
void emit_require_size(Emitter& to, const InputType& type, std::int64_t size, std::int32_t from);
/// Writes the instruction.
void emit_access(Emitter& to, const InputType& whole, const std::string& name, std::int64_t place, std::int32_t from,
                 std::int32_t into);

}  // namespace espalier::blocks
