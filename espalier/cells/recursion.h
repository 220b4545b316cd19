/// Recursion: runs cells over a structure that is given as data. A sequence, a tree or a DAG is one node, whatever its
/// size and shape.
///
///   using In = std::span<const Expr>;
///   const esp::Recursion tree("tree", {
///       {"leaf", 0, [&](In in) { return tanh(leaf(in[0])); }},                              // of a row of x
///       {"pair", 2, [&](In in) { return tanh(node(concat(in, 0))); }, esp::TakesX::kNo},    // of two children
///   });
///   const esp::KindId leaf = tree.kind("leaf"), pair = tree.kind("pair");
///   esp::Structure s;                                                                       // ((0 1) 2)
///   const auto a = s.add(leaf, 0), b = s.add(leaf, 1), c = s.add(leaf, 2);
///   s.add(pair, esp::Structure::kNoX, {s.add(pair, esp::Structure::kNoX, {a, b}), c});
///   const Expr states = tree(words, s)[0];                                                  // one row per row of s
///
/// A *row* of a structure has a kind, reads a row of x if its kind does, and reads the states of its children, which
/// are other rows. A kind has a function that is compiled to a cell. It gets the row of x, then the states of the
/// children, one child after the other, and returns the state of the row: one Expr, or a pair, tuple or array of
/// several, the same for all kinds. RecursionKind::any_children() makes a kind for rows with any number of children.
///
/// Rows of all instances that have the same height and kind run together. A row costs about 60 nanoseconds from
/// recording to running; one node per row costs three times that. The functions are traced like those of cells, and the
/// results are the same as if each row were a use of a cell.
///
/// Thread safety: any number of threads may use a Recursion, each with its own graphs; a Structure is data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/graph/expr.h"

namespace espalier {

/// A kind of a Recursion, by its place in the list of kinds. Recursion::kind() finds it by name.
enum class KindId : std::int32_t {};

/// The rows of one instance: their kinds, what they read, and which row is whose child.
class ESPALIER_EXPORT Structure {
 public:
  static constexpr std::int32_t kNoX = -1;
  static constexpr std::int32_t kMissing = -1;  // a missing child: its state is zeros

  /// Adds a row and returns its number. Children are row numbers; they may be added later. Whatever a recursion cannot
  /// run over (a cycle, a child that is never added) is refused when the recursion gets the structure.
  std::int32_t add(KindId kind, std::int32_t x, std::span<const std::int32_t> children = {}) {
    rows_.push_back({kind, x, static_cast<std::int32_t>(children_.size()), static_cast<std::int32_t>(children.size())});
    for (const std::int32_t child : children) children_.push_back(child);  // few: quicker than inserting a range
    return size() - 1;
  }
  std::int32_t add(KindId kind, std::int32_t x, std::initializer_list<std::int32_t> children) {
    return add(kind, x, std::span<const std::int32_t>(children.begin(), children.size()));
  }
  /// Adds the elements of a sequence, all of one kind. The child of each is the element before it, or the one after it
  /// if the sequence is read from its end; the first element to be read has a missing child. Each reads the row of x
  /// that has its number.
  void add_sequence(std::int32_t length, KindId kind = {}, bool from_end = false);
  static Structure sequence(std::int32_t length, KindId kind = {}, bool from_end = false) {
    Structure structure;
    structure.add_sequence(length, kind, from_end);
    return structure;
  }

  std::int32_t size() const { return static_cast<std::int32_t>(rows_.size()); }
  KindId kind(std::int32_t row) const { return at(row).kind; }
  std::int32_t x(std::int32_t row) const { return at(row).x; }
  std::span<const std::int32_t> children(std::int32_t row) const {
    return {children_.data() + at(row).first_child, static_cast<std::size_t>(at(row).children)};
  }
  /// Removes all rows and keeps the memory for new ones.
  void clear() {
    rows_.clear();
    children_.clear();
  }

 private:
  struct Row {
    KindId kind;
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

/// What rows of one kind compute. Error messages call it by its name, which no other kind of the recursion may have.
struct RecursionKind {
  using Function = std::function<void(std::span<const Expr>, ExprList&)>;
  static constexpr std::int32_t kAnyChildren = -1;

  /// Rows with a fixed number of children. `f` takes a std::span<const Expr>: the row of x, then the children's states.
  template <class F>
  RecursionKind(std::string kind_name, std::int32_t of_children, F f, TakesX takes = TakesX::kYes)
      : name(std::move(kind_name)),
        children(of_children),
        takes_x(takes == TakesX::kYes),
        function(erased(std::move(f))) {}

  /// Rows with any number of children, in no order. `of_child` takes the row of x and the state of one child, and gives
  /// a message with the shapes of a state. The messages of all children are summed; without children the sum is zeros.
  /// `of_node` takes the row of x and that sum, and gives the state of the row.
  template <class C, class N>
  static RecursionKind any_children(std::string kind_name, C of_child, N of_node, TakesX takes = TakesX::kYes) {
    RecursionKind kind(std::move(kind_name), kAnyChildren, std::move(of_node), takes);
    kind.message = erased(std::move(of_child));
    return kind;
  }

  std::string name;
  std::int32_t children;  // or kAnyChildren
  bool takes_x;
  Function function;
  Function message;  // of each child, if there may be any number

 private:
  template <class F>
  static Function erased(F f) {
    return [f = std::move(f)](std::span<const Expr> in, ExprList& out) {
      using Result = decltype(f(in));
      out.clear();
      cells::Results<Result>::take(f(in), out);
    };
  }
};

class ESPALIER_EXPORT Recursion {
 public:
  /// `state` gives the shapes of a state. It is optional if some kind has no children, because that kind's function
  /// then determines the shapes; otherwise it is required (UsageError).
  Recursion(std::string name, std::vector<RecursionKind> kinds, std::vector<Shape> state = {});
  ~Recursion();
  Recursion(Recursion&&) noexcept;
  Recursion& operator=(Recursion&&) noexcept;

  /// The kind with this name. Refuses (UsageError) an unknown name.
  KindId kind(std::string_view name) const;

  /// The states of all rows: one Expr per part of a state, with one row per row of the structure. x must have many
  /// rows; several recursions may use it. Refuses (UsageError) an empty structure, and one that does not fit.
  std::vector<Expr> operator()(Operand x, const Structure& structure) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
