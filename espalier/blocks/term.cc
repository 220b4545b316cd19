#include "espalier/blocks/term.h"

#include <algorithm>

#include "espalier/base/error.h"
#include "espalier/blocks/input_type.h"

namespace espalier::blocks {

Term* resolve(Term* term) {
  while (term->same != nullptr) term = term->same;
  return term;
}

bool is_known(Term* term) {
  term = resolve(term);
  return !term->is(Term::Kind::kUnknown) && std::all_of(term->items.begin(), term->items.end(), &is_known);
}

std::string to_text(Term* term) {
  term = resolve(term);
  const auto joined = [&] {
    std::string text;
    for (Term* item : term->items) text += (text.empty() ? "" : ", ") + to_text(item);
    return text;
  };
  switch (term->kind) {
    case Term::Kind::kTuple: return "(" + joined() + ")";
    case Term::Kind::kSequence: return "seq<" + joined() + ">";
    case Term::Kind::kInfinite: return "inf<" + joined() + ">";
    case Term::Kind::kUnknown:
      return term->element != nullptr && is_known(term->element) ? "a sequence of " + to_text(term->element) : "?";
    default: return type_of(term).to_text();
  }
}

Type type_of(Term* term) {
  term = resolve(term);
  std::vector<Type> items;
  for (Term* item : term->items) items.push_back(type_of(item));
  switch (term->kind) {
    case Term::Kind::kTensor: return Type::tensor(term->shape);
    case Term::Kind::kTuple: return Type::tuple(std::move(items));
    case Term::Kind::kSequence: return Type::sequence(items[0]);
    case Term::Kind::kInfinite: return Type::infinite(items[0]);
    case Term::Kind::kInput: return Type::input(*term->input);
    case Term::Kind::kVoid: return {};
    case Term::Kind::kUnknown: break;
  }
  throw InternalError("blocks: a type is asked for that is not known");
}

}  // namespace espalier::blocks
