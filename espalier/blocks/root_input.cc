#include "espalier/blocks/root_input.h"

#include <fmt/format.h>

#include "espalier/blocks/access.h"
#include "espalier/blocks/elements.h"
#include "espalier/blocks/numbers.h"

namespace espalier::blocks {
namespace {

/// By place.
bool has_items(const InputType& type, std::size_t count) {
  return type.fields.empty() ? type.element != nullptr : type.fields.size() == count;
}

const InputType& item_type(const InputType& type, std::size_t item) {
  return type.fields.empty() ? type.element() : type.fields[item].type();
}

}  // namespace

void bind_root_input(Inference& types, BlockNode& root, Term* wanted, const InputType& given) {
  wanted = resolve(wanted);
  const auto cannot = [&] {
    types.refuse(root,
                 fmt::format("it takes {}, which cannot be read from data of type {}", to_text(wanted), given.name));
  };
  switch (wanted->kind) {
    case Term::Kind::kVoid: return;
    case Term::Kind::kUnknown:
    case Term::Kind::kInput:
      types.equal(root, wanted, "it takes", types.input(given), "the data are");
      types.run(root);
      return;
    case Term::Kind::kTensor:
      if (!can_read_numbers(given, wanted->shape)) cannot();
      return;
    case Term::Kind::kTuple:
      if (!has_items(given, wanted->items.size())) cannot();
      for (std::size_t i = 0; i < wanted->items.size(); ++i)
        bind_root_input(types, root, wanted->items[i], item_type(given, i));
      return;
    case Term::Kind::kSequence:
      if (given.element == nullptr) cannot();
      return bind_root_input(types, root, wanted->items[0], given.element());
    case Term::Kind::kInfinite: cannot();
  }
}

Registers emit_root_input(Emitter& to, const InputType& given, Term* wanted, const Registers& from, SourceLine where) {
  wanted = resolve(wanted);
  switch (wanted->kind) {
    case Term::Kind::kTensor: {
      Registers leaf = to.registers(1);
      emit_numbers(to, given, wanted->shape, from, leaf, where);
      return leaf;
    }
    case Term::Kind::kTuple: {
      if (given.fields.empty()) emit_require_size(to, given, std::ssize(wanted->items), from[0]);
      Registers all;
      for (std::size_t i = 0; i < wanted->items.size(); ++i) {
        const Registers item = to.registers(1);
        emit_access(to, given, "", static_cast<std::int64_t>(i), from[0], item[0]);
        const Registers loaded = emit_root_input(to, item_type(given, i), wanted->items[i], item, where);
        all.insert(all.end(), loaded.begin(), loaded.end());
      }
      return all;
    }
    case Term::Kind::kSequence: {
      Term given_term;
      given_term.kind = Term::Kind::kInput;
      given_term.input = &given;
      const std::int32_t sequence = emit_sequence(to, &given_term, from);
      if (resolve(wanted->items[0])->is(Term::Kind::kInput)) return {sequence};
      Term element;
      element.kind = Term::Kind::kInput;
      element.input = &given.element();
      Loop loop(to, sequence, &element);
      const std::int32_t results = loop.results(wanted->items[0]);
      loop.begin();
      loop.store(emit_root_input(to, given.element(), wanted->items[0], loop.element, where), results);
      loop.end();
      return {results};
    }
    case Term::Kind::kVoid: return {};
    default: return from;
  }
}

}  // namespace espalier::blocks
