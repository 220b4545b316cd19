/// BlockNode: a block as the library sees it. Pool: the nodes and terms of blocks that are wired together.
///
/// Nodes refer to each other in cycles (recursion), so nobody owns a single one: blocks that are wired together share a
/// pool, and a Block is a handle to a node and its pool. A node lives as long as any handle to any node of its pool.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/source_line.h"
#include "espalier/blocks/term.h"

namespace espalier::blocks {

class BlockNode;
class Emitter;
class Inference;

/// Where values are, in the frame of a walk: one number a slot.
using Registers = std::vector<std::int32_t>;

/// A block inside another, and what it is called there: a record's field, a case of one_of.
struct Child {
  BlockNode* node = nullptr;
  std::string label = {};  // NOLINT(readability-redundant-member-init): may be left out
};

class BlockNode {
 public:
  BlockNode() = default;
  BlockNode& operator=(const BlockNode&) = delete;
  virtual ~BlockNode() = default;

  /// What made it, with its arguments but without the blocks inside: `one_hot(0, 10)`.
  virtual std::string label() const = 0;
  /// The rule: makes terms equal, as far as what is known says. Called again when a term that it looked at became
  /// known.
  virtual void infer(Inference& types) = 0;
  /// Writes the instructions that compute the output from `in`. Where `want` is not null, the result should be there;
  /// the caller moves it if it is not.
  virtual Registers emit(Emitter& to, const Registers& in, const Registers* want) = 0;
  /// Refuses (UsageError) what can only be known when all is wired.
  virtual void check() const {}
  /// It does nothing with its input: where nobody says what that is, it is nothing.
  virtual bool ignores_input() const { return false; }
  /// It is declared by itself, and not a part of the blocks that use it: paths begin with it.
  virtual bool is_declaration() const { return false; }

  /// "tree / inner / left": the names from the outermost block that holds it. Empty where nothing has a name.
  std::string path() const;
  /// For messages: label(), with the user's name.
  std::string title() const;

  /// Copies a node of this class; set by new_block(). The copy still refers to the terms and children of the original.
  std::unique_ptr<BlockNode> (*copy)(const BlockNode& node) = nullptr;
  Term* in = nullptr;
  Term* out = nullptr;
  std::string name;  // the user's
  SourceLine where;  // where it was made
  std::vector<Child> children;
  BlockNode* parent = nullptr;  // the first that took it in
  std::string label_in_parent;

 protected:
  BlockNode(const BlockNode&) = default;
};

struct Pool {
  std::vector<std::unique_ptr<BlockNode>> nodes;
  std::deque<Term> terms;               // never move
  std::vector<std::deque<Term>> taken;  // the terms of pools that were merged into this one
  std::shared_ptr<Pool> merged;         // all this had belongs to that one now

  Term* term() { return &terms.emplace_back(); }
};

/// The pool that holds what this one had at first.
std::shared_ptr<Pool> pool_of(const std::shared_ptr<Pool>& first);
/// Makes both one.
void merge(const std::shared_ptr<Pool>& a, const std::shared_ptr<Pool>& b);

}  // namespace espalier::blocks
