/// What blocks over sequences share: finding the elements of their input, as types and as code, and loops over them.
#pragma once

#include <cstdint>
#include <string_view>

#include "espalier/blocks/emitter.h"
#include "espalier/blocks/inference.h"

namespace espalier::blocks {

enum class Infinite : std::uint8_t { kAllowed, kRefused };

/// Where `source` is a sequence, a tuple or an input that is a range: makes `element` the type of its elements. Null
/// while it is unknown, else what is known of it. Refuses (UsageError) anything else, and infinite sequences unless
/// they are allowed.
Term* find_elements(Inference& types, BlockNode& who, Term* source, Term* element, Infinite infinite);

/// The register of a sequence with the elements of what `in` holds.
std::int32_t emit_sequence(Emitter& to, Term* source, const Registers& in);

/// Code that runs once for each element.
class Loop {
 public:
  /// Begins it; `element` holds the element until the end.
  Loop(Emitter& to, std::int32_t sequence, Term* type);
  /// A sequence with as many elements, to be filled by store().
  std::int32_t results(Term* type);
  void store(const Registers& value, std::int32_t into);
  /// Begins the part that repeats. What must be done once is written before.
  void begin();
  void end();

  Registers element;

 private:
  Emitter& to_;
  std::int32_t sequence_;
  std::int32_t place_;
  std::int32_t next_ = 0;
};

/// Writes code for `empty` where a sequence has no elements, and for `rest` where it has some.
template <class Empty, class Rest>
void emit_if_empty(Emitter& to, std::int32_t sequence, const Empty& empty, const Rest& rest);

/// Copies one element of a sequence, which must be there, to registers.
void emit_load(Emitter& to, std::int32_t sequence, std::int64_t element, const Registers& into);
/// Goes on elsewhere where a sequence has elements.
const Instruction* jump_if_some(Walk& walk, const Instruction& at);

template <class Empty, class Rest>
void emit_if_empty(Emitter& to, std::int32_t sequence, const Empty& empty, const Rest& rest) {
  const std::int32_t choice = to.add(&jump_if_some, {sequence}, {});
  empty();
  const std::int32_t over = to.jump();
  to.jump_to(choice, to.here());
  rest();
  to.jump_to(over, to.here());
}

}  // namespace espalier::blocks
