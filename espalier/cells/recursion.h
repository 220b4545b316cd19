/// Recursion: cells run over a structure that is given as data. A sequence, a tree or a DAG is one node, however many
/// rows it has, and whatever its shape.
///
///   using In = std::span<const Expr>;
///   const esp::Recursion tree("tree", {
///       {0, [&](In in) { return tanh(leaf(in[0])); }},                              // kind 0: of a row of x
///       {2, [&](In in) { return tanh(node(concat(in, 0))); }, esp::TakesX::kNo},    // kind 1: of two children
///   });
///   esp::Structure s;                                                               // ((0 1) 2)
///   const auto left = s.add(0, 0), right = s.add(0, 1), last = s.add(0, 2);
///   s.add(1, esp::Structure::kNoX, {s.add(1, esp::Structure::kNoX, {left, right}), last});
///   const Expr states = tree(words, s)[0];                                          // a row for each of the structure
///
/// A *row* of a structure is of some kind, reads a row of x if its kind does, and the states of its children, other
/// rows. A kind has a function, of which a cell is made: it gets the row of x, then the states of the children, one
/// child after the other, and gives the row's state: one Expr, or a pair, tuple or array of several, the same for all
/// kinds.
///
/// What several instances have of one height and kind runs together. A row costs some 60 nanoseconds from recording to
/// running, where a node for each costs three times that. The functions are traced, as those of cells are, and the
/// numbers are the same as if each row were a use of a cell.
///
/// Thread safety: a Recursion may be used by any number of threads, each with graphs of its own; a Structure is data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/graph/expr.h"

namespace espalier {

/// Which rows there are, of which kinds, and how they hang together.
class ESPALIER_EXPORT Structure {
 public:
  static constexpr std::int32_t kNoX = -1;
  static constexpr std::int32_t kMissing = -1;  // a child that is not there: its state counts as zeros

  /// Adds a row and gives its number. Children are numbers of rows, which may be added later: what a recursion cannot
  /// run over (a cycle, a child that is never added) is refused when it gets the structure.
  std::int32_t add(std::int32_t kind, std::int32_t x, std::span<const std::int32_t> children = {}) {
    rows_.push_back({kind, x, static_cast<std::int32_t>(children_.size()), static_cast<std::int32_t>(children.size())});
    for (const std::int32_t child : children) children_.push_back(child);  // few: quicker than inserting a range
    return size() - 1;
  }
  std::int32_t add(std::int32_t kind, std::int32_t x, std::initializer_list<std::int32_t> children) {
    return add(kind, x, std::span<const std::int32_t>(children.begin(), children.size()));
  }
  /// Adds the elements of a sequence, all of one kind: the child of each is the one before it, or the one behind, if
  /// the sequence is read from its end; that of the first to be read is missing. Each reads the row of x that has its
  /// number.
  void add_sequence(std::int32_t length, std::int32_t kind, bool from_end = false);
  static Structure sequence(std::int32_t length, std::int32_t kind, bool from_end = false) {
    Structure structure;
    structure.add_sequence(length, kind, from_end);
    return structure;
  }

  std::int32_t size() const { return static_cast<std::int32_t>(rows_.size()); }
  std::int32_t kind(std::int32_t row) const { return at(row).kind; }
  std::int32_t x(std::int32_t row) const { return at(row).x; }
  std::span<const std::int32_t> children(std::int32_t row) const {
    return {children_.data() + at(row).first_child, static_cast<std::size_t>(at(row).children)};
  }
  /// Forgets the rows, and keeps the memory for others.
  void clear() {
    rows_.clear();
    children_.clear();
  }

 private:
  struct Row {
    std::int32_t kind;
    std::int32_t x;
    std::int32_t first_child;
    std::int32_t children;
  };
  const Row& at(std::int32_t row) const { return rows_[static_cast<std::size_t>(row)]; }

  std::vector<Row> rows_;
  std::vector<std::int32_t> children_;
};

/// Whether rows of a kind read a row of x.
enum class TakesX : std::int32_t { kNo, kYes };

/// What rows of one kind compute.
struct RecursionKind {
  using Function = std::function<void(std::span<const Expr>, ExprList&)>;

  /// `function` takes a std::span<const Expr>.
  template <class F>
  RecursionKind(std::int32_t of_children, F f, TakesX takes = TakesX::kYes)
      : children(of_children), takes_x(takes == TakesX::kYes), function([f = std::move(f)](auto in, ExprList& out) {
          using Result = decltype(f(in));
          out.clear();
          cells::Results<Result>::take(f(in), out);
        }) {}

  std::int32_t children;
  bool takes_x;
  Function function;
};

class ESPALIER_EXPORT Recursion {
 public:
  /// `state` are the shapes of a state. They may be left out where some kind is without children, whose function then
  /// says what they are; else they are needed (UsageError).
  Recursion(std::string name, std::vector<RecursionKind> kinds, std::vector<Shape> state = {});
  ~Recursion();
  Recursion(Recursion&&) noexcept;
  Recursion& operator=(Recursion&&) noexcept;

  /// The states of all rows: an Expr of as many rows for each part of a state. x has many rows, and may be used by
  /// several recursions. Refuses (UsageError) an empty structure, and one that does not fit.
  std::vector<Expr> operator()(Operand x, const Structure& structure) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
