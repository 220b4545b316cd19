#include "espalier/blocks/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "espalier/base/error.h"

namespace espalier::blocks {
namespace {

bool contains(Term* whole, const Term* part) {
  whole = resolve(whole);
  return whole == part ||
         std::any_of(whole->items.begin(), whole->items.end(), [&](Term* item) { return contains(item, part); });
}

}  // namespace

Term* Inference::tensor(const Shape& shape) {
  Term* term = unknown();
  term->kind = Term::Kind::kTensor;
  term->shape = shape;
  return term;
}

Term* Inference::tuple(std::vector<Term*> items) {
  Term* term = unknown();
  term->kind = Term::Kind::kTuple;
  term->items = std::move(items);
  return term;
}

Term* Inference::container(Term::Kind kind, Term* element) {
  Term* term = tuple({element});
  term->kind = kind;
  return term;
}

Term* Inference::input(const InputType& type) {
  Term* term = unknown();
  term->kind = Term::Kind::kInput;
  term->input = &type;
  return term;
}

Term* Inference::nothing() {
  Term* term = unknown();
  term->kind = Term::Kind::kVoid;
  return term;
}

Term* Inference::of(const Type& type) {
  std::vector<Term*> items;
  for (const Type& item : type.items()) items.push_back(of(item));
  switch (type.kind()) {
    case Type::Kind::kTensor: return tensor(type.shape());
    case Type::Kind::kTuple: return tuple(std::move(items));
    case Type::Kind::kSequence: return sequence(items[0]);
    case Type::Kind::kInfinite: return infinite(items[0]);
    case Type::Kind::kInput: return input(*type.input_of());
    case Type::Kind::kVoid: break;
  }
  return nothing();
}

Term* Inference::look(Term* term, BlockNode& who) {
  term = resolve(term);
  if (term->is(Term::Kind::kUnknown) &&
      std::find(term->watchers.begin(), term->watchers.end(), &who) == term->watchers.end())
    term->watchers.push_back(&who);
  return term;
}

bool Inference::look_whole(Term* term, BlockNode& who) {
  term = look(term, who);
  bool known = !term->is(Term::Kind::kUnknown);
  for (Term* item : term->items) known = look_whole(item, who) && known;
  return known;
}

void Inference::become(Term* unknown, Term* other) {
  unknown->same = other;
  if (other->is(Term::Kind::kUnknown))
    other->watchers.insert(other->watchers.end(), unknown->watchers.begin(), unknown->watchers.end());
  else
    due_.insert(due_.end(), unknown->watchers.begin(), unknown->watchers.end());
  unknown->watchers.clear();
}

bool Inference::unify(Term* a, Term* b) {
  a = resolve(a);
  b = resolve(b);
  if (a == b) return true;
  if (a->is(Term::Kind::kUnknown) || b->is(Term::Kind::kUnknown)) {
    if (!a->is(Term::Kind::kUnknown)) std::swap(a, b);
    if (contains(b, a)) {
      holds_itself_ = true;
      return false;
    }
    become(a, b);
    if (!b->is(Term::Kind::kUnknown) || a->element == nullptr) return true;
    if (b->element != nullptr) return unify(a->element, b->element);
    b->element = a->element;
    return true;
  }
  if (a->kind != b->kind || a->shape != b->shape || a->input != b->input || a->items.size() != b->items.size())
    return false;
  for (std::size_t i = 0; i < a->items.size(); ++i)
    if (!unify(a->items[i], b->items[i])) return false;
  return true;
}

void Inference::equal(BlockNode& who, Term* a, std::string_view a_is, Term* b, std::string_view b_is) {
  const std::string a_text = to_text(a);  // as they were before
  const std::string b_text = to_text(b);
  if (!unify(a, b))
    refuse(who, fmt::format("{} is {} and {} is {}{}", a_is, a_text, b_is, b_text,
                            holds_itself_ ? ": a type that would hold itself" : ""));
}

void Inference::elements_are(BlockNode& who, Term* term, std::string_view its_is, Term* element,
                             std::string_view element_is) {
  term = resolve(term);
  if (!term->is(Term::Kind::kUnknown)) return;  // then rules say it, which look at what it is
  if (term->element == nullptr)
    term->element = element;
  else
    equal(who, term->element, its_is, element, element_is);
}

void Inference::gets_nothing(BlockNode& who, BlockNode& inside, std::string_view called) {
  if (!inside.ignores_input())
    equal(who, inside.in, fmt::format("the input of {}", called), nothing(), "what that is given");
}

void Inference::run(BlockNode& first) {
  due_.push_back(&first);
  while (!due_.empty()) {
    BlockNode* node = due_.front();
    due_.pop_front();
    node->infer(*this);
  }
}

std::string path_line(const BlockNode& node) {
  const std::string path = node.path();
  return path.empty() ? "" : "\n  in " + path;
}

void Inference::refuse(const BlockNode& who, const std::string& sentence) const {
  throw UsageError(fmt::format("{}: {}{}\n  at {}", who.title(), sentence, path_line(who), where_.to_string()));
}

void Inference::refuse_kind(const BlockNode& who, Term* given, std::string_view expected) const {
  refuse(who, fmt::format("its input is {}; {} is expected", to_text(given), expected));
}

}  // namespace espalier::blocks
