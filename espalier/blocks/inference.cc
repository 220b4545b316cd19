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

bool is_sequence(const Term& term) {
  return term.is(Term::Kind::kSequence) || term.is(Term::Kind::kInfinite) ||
         (term.is(Term::Kind::kUnknown) && term.element != nullptr);
}

/// A line on what to do about two kinds of types that meet; empty if nothing is always right.
std::string_view advice_on(Term* a, Term* b) {
  a = resolve(a);
  b = resolve(b);
  const auto are = [&](const auto& one, const auto& other) { return (one(*a) && other(*b)) || (one(*b) && other(*a)); };
  const auto is = [](Term::Kind kind) { return [kind](const Term& term) { return term.is(kind); }; };
  if (are(is_sequence, is(Term::Kind::kTensor)))
    return "\n  hint: map(block) runs a block on each element; sum(), mean(), max(), rnn() and stack() make tensors of "
           "a sequence";
  if (are(is_sequence, is(Term::Kind::kTuple)))
    return "\n  hint: all_of({...}) makes a tuple; rnn(cell), fold(block, start) and reduce(block) run a block of two "
           "inputs "
           "along a sequence";
  if (are(is(Term::Kind::kTuple), is(Term::Kind::kTensor)))
    return "\n  hint: get(i) takes one item of a tuple, concat() joins all, all_of({...}) makes a tuple";
  if (are(is(Term::Kind::kInput), is(Term::Kind::kTensor)))
    return "\n  hint: scalar(), vector(n), tensor(shape) and embedding(table) make tensors of data (input<T>)";
  if (a->is(Term::Kind::kInput) && b->is(Term::Kind::kInput))
    return "\n  hint: a block reads one type of data, in all places where it is used; make another block for the other";
  return "";
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
      std::find(term->watchers.begin(), term->watchers.end(), &who) == term->watchers.end()) {
    changes_.push_back({Change::Kind::kWatched, term});
    term->watchers.push_back(&who);
  }
  return term;
}

bool Inference::look_whole(Term* term, BlockNode& who) {
  term = look(term, who);
  bool known = !term->is(Term::Kind::kUnknown);
  for (Term* item : term->items) known = look_whole(item, who) && known;
  return known;
}

void Inference::become(Term* unknown, Term* other) {
  Change& change = changes_.emplace_back(Change{Change::Kind::kSame, unknown, other->watchers.size()});
  unknown->same = other;
  change.own_watchers.swap(unknown->watchers);
  if (other->is(Term::Kind::kUnknown))
    other->watchers.insert(other->watchers.end(), change.own_watchers.begin(), change.own_watchers.end());
  else
    due_.insert(due_.end(), change.own_watchers.begin(), change.own_watchers.end());
}

void Inference::undo() noexcept {
  for (; !changes_.empty(); changes_.pop_back()) {
    Change& last = changes_.back();
    Term& term = *last.term;
    switch (last.kind) {
      case Change::Kind::kWatched: term.watchers.pop_back(); break;
      case Change::Kind::kElement: term.element = nullptr; break;
      case Change::Kind::kSaid: term.said_by = nullptr; break;
      case Change::Kind::kSame:
        while (term.same->watchers.size() > last.watchers_of_same) term.same->watchers.pop_back();
        term.same = nullptr;
        term.watchers.swap(last.own_watchers);
        break;
    }
  }
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
    set_element(b, a->element);
    return true;
  }
  if (a->kind != b->kind || a->shape != b->shape || a->input != b->input || a->items.size() != b->items.size()) {
    differ_ = {a, b};
    return false;
  }
  for (std::size_t i = 0; i < a->items.size(); ++i)
    if (!unify(a->items[i], b->items[i])) return false;
  return true;
}

void Inference::equal(BlockNode& who, Term* a, std::string_view a_says, Term* b, std::string_view b_says) {
  const std::string a_text = to_text(a);  // as they were before
  const std::string b_text = to_text(b);
  const std::string_view advice = advice_on(a, b);
  if (unify(a, b)) return;
  refuse(who, holds_itself_
                  ? fmt::format("{} {}, but {} {}, a type that would contain itself", a_says, a_text, b_says, b_text)
                  : fmt::format("{} {}, but {} {}{}{}", a_says, a_text, b_says, b_text, deciders(a, b), advice));
}

std::string Inference::deciders(Term* a, Term* b) const {
  if (resolve(a) == differ_[0] || resolve(b) == differ_[1]) return "";  // the sentence names them
  std::string lines;
  for (Term* part : differ_)
    if (part->said_by != nullptr)
      lines +=
          fmt::format("\n  {} {} {}", part->said_by->title(), part->is_input_of_it ? "takes" : "gives", to_text(part));
  return lines;
}

void Inference::elements_are(BlockNode& who, Term* term, std::string_view its_says, Term* element,
                             std::string_view element_says) {
  term = resolve(term);
  if (!term->is(Term::Kind::kUnknown)) return;  // then rules say it, which look at what it is
  if (term->element == nullptr)
    set_element(term, element);
  else
    equal(who, term->element, its_says, element, element_says);
}

void Inference::gets_nothing(BlockNode& who, BlockNode& inside, std::string_view called) {
  if (!inside.ignores_input()) equal(who, inside.in, fmt::format("{} takes", called), nothing(), "is given");
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

std::string Inference::without_place(std::string_view message) const {
  const std::string place = "\n  at " + where_.to_string();
  if (message.ends_with(place)) message.remove_suffix(place.size());
  return std::string(message);
}

void Inference::refuse(const BlockNode& who, const std::string& sentence) const {
  throw UsageError(fmt::format("{}: {}{}\n  at {}", who.title(), sentence, path_line(who), where_.to_string()));
}

void Inference::refuse_kind(const BlockNode& who, Term* given, std::string_view expected) const {
  refuse(who, fmt::format("it takes {}, but is given {}", expected, to_text(given)));
}

}  // namespace espalier::blocks
