/// Inference: one act of wiring. It makes terms equal, wakes the rules that this concerns, and reports a clash at the
/// line that wired it. If it ends with an exception, all terms are as they were before, so that a refused wiring does
/// not change the blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/source_line.h"
#include "espalier/blocks/node.h"
#include "espalier/blocks/term.h"
#include "espalier/blocks/type.h"

namespace espalier::blocks {

class Inference {
 public:
  Inference(Pool& pool, SourceLine where) : pool_(pool), where_(where) {}
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;
  ~Inference() {
    if (std::uncaught_exceptions() > exceptions_before_) undo();
  }

  // New terms.
  Term* unknown() { return pool_.term(); }
  Term* tensor(const Shape& shape);
  Term* tuple(std::vector<Term*> items);
  Term* sequence(Term* element) { return container(Term::Kind::kSequence, element); }
  Term* infinite(Term* element) { return container(Term::Kind::kInfinite, element); }
  Term* input(const InputType& type);
  Term* nothing();
  Term* of(const Type& type);

  /// What is known of a term; `who` is woken when it was unknown and becomes known.
  Term* look(Term* term, BlockNode& who);
  /// The same for all that is in it.
  bool look_whole(Term* term, BlockNode& who);

  /// Makes both equal. Refuses (UsageError) types that differ, as "<who>: <a_says> A, but <b_says> B"; each phrase has
  /// a verb, as in "scalar() gives".
  void equal(BlockNode& who, Term* a, std::string_view a_says, Term* b, std::string_view b_says);
  /// The same for a block inside `who` that runs without an input. One that does not look at its input may have any.
  void gets_nothing(BlockNode& who, BlockNode& inside, std::string_view called);
  void input_is(BlockNode& who, Term* term) {
    say(term, who, true);
    equal(who, who.in, "it is given", term, "it takes");
  }
  void output_is(BlockNode& who, Term* term) {
    say(term, who, false);
    equal(who, term, "it gives", who.out, "its output must be");
  }

  /// Remembers the block that decides a type, and all types in it, to name it where one differs from another.
  void say(Term* term, const BlockNode& who, bool is_input) {
    if (term->said_by != nullptr) return;
    changes_.push_back({Change::Kind::kSaid, term});
    term->said_by = &who;
    term->is_input_of_it = is_input;
    for (Term* item : term->items) say(item, who, is_input);
  }

  /// While a term is unknown: each of its elements, should it turn out to have some, is `element`. So types flow
  /// through sequences before it is known what holds them. Refuses (UsageError) what differs, as equal() does.
  void elements_are(BlockNode& who, Term* term, std::string_view its_says, Term* element,
                    std::string_view element_says);

  /// Runs a block's rule, and all that become due.
  void run(BlockNode& first);

  /// A message without its last line if that is the place which refuse() will add.
  std::string without_place(std::string_view message) const;
  /// UsageError: "<who>: <sentence>", then the path and the line.
  [[noreturn]] void refuse(const BlockNode& who, const std::string& sentence) const;
  /// "it takes <expected>, but is given A"
  [[noreturn]] void refuse_kind(const BlockNode& who, Term* given, std::string_view expected) const;

 private:
  /// What happened to a term.
  struct Change {
    enum class Kind : std::uint8_t { kWatched, kElement, kSaid, kSame };
    Kind kind;
    Term* term;
    std::size_t watchers_of_same = 0;           // how many the other term had before
    std::vector<BlockNode*> own_watchers = {};  // that woke up or went to the other term
  };

  void undo() noexcept;
  Term* container(Term::Kind kind, Term* element);
  bool unify(Term* a, Term* b);
  void set_element(Term* term, Term* element) {
    changes_.push_back({Change::Kind::kElement, term});
    term->element = element;
  }
  /// A line per side of the two types that differ within `a` and `b`, with the block that decided it.
  std::string deciders(Term* a, Term* b) const;
  void become(Term* unknown, Term* other);

  Pool& pool_;
  SourceLine where_;
  int exceptions_before_ = std::uncaught_exceptions();
  std::deque<BlockNode*> due_;
  std::vector<Change> changes_;  // in order
  // Why two terms could not become one.
  bool holds_itself_ = false;
  std::array<Term*, 2> differ_ = {};
};

/// "\n  in tree / inner" for a block that has a path, and "".
std::string path_line(const BlockNode& node);

}  // namespace espalier::blocks
