/// Term: a type of which parts may still be unknown, and how two of them become one.
///
/// Every block has a term for its input and one for its output. Wiring makes terms equal; an unknown one that becomes
/// known wakes the blocks that look at it, whose rules make further terms equal (inference.h). Nothing that is known is
/// ever changed, so the result does not depend on the order.
#pragma once

#include <string>
#include <vector>

#include "espalier/base/shape.h"
#include "espalier/blocks/type.h"

namespace espalier::blocks {

class BlockNode;

struct Term {
  enum class Kind : std::uint8_t { kTensor, kTuple, kSequence, kInfinite, kInput, kVoid, kUnknown };

  Kind kind = Kind::kUnknown;
  Term* same = nullptr;                   // this one was made equal to that
  Shape shape = {};                       // of a tensor
  const InputType* input = nullptr;       // of an input
  std::vector<Term*> items = {};          // of a tuple; the element of a sequence
  Term* element = nullptr;                // of an unknown: what each of its elements is, should it have some
  std::vector<BlockNode*> watchers = {};  // of an unknown: who looks at it
  const BlockNode* said_by = nullptr;     // the block whose input or output this is, if a block alone decided it
  bool is_input_of_it = false;

  bool is(Kind other) const { return kind == other; }
};

/// The one that stands for it and all that were made equal.
Term* resolve(Term* term);
/// Nothing in it is unknown.
bool is_known(Term* term);
/// As that of Type, with ? for what is unknown, and "a sequence of float[3]" if its elements alone are known.
std::string to_text(Term* term);
/// Refuses (InternalError) one that is not known.
Type type_of(Term* term);

}  // namespace espalier::blocks
