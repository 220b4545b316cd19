/// cell(): a function of Exprs that is recorded as one node a use, however many ops it is made of.
///
///   const auto merge = esp::cell("merge", [&](Expr left, Expr right) {
///     return tanh(affine(concat({left, right}, 0), W, b));
///   });
///   Expr parent = merge(left, right);
///
/// A function of a std::span<const Expr> is a cell of any number of inputs. The function is traced once for each
/// combination of shapes, compiled, and not called again: what it captures must not change. It may return one Expr, or
/// a std::array, std::pair or std::tuple of several. It may use parameters, other cells, and all ops but those with a
/// number of their own at every node (lookup, pick, losses with a label); it may not make leaves, read values, or use
/// Exprs that it was not given: refused by name.
///
/// Numbers are those of the plain function, also with dropout inside. Where a function cannot be compiled (it computes
/// something from parameters alone, or has more than 63 inputs and parameters), its ops are recorded one by one; so
/// they are in float64, by the reference twin, and with GraphOptions::expand_cells.
///
/// Thread safety: a cell may be used by any number of threads, each with graphs of its own.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"

namespace espalier {

struct CellOptions {
  /// Inputs, by their numbers, that do not come from the recursion. What depends on them alone is a node of its own,
  /// which can run for all uses at once.
  std::vector<std::size_t> outer = {};  // NOLINT(readability-redundant-member-init): either may be left out
  /// For messages; those that are missing are called x0, x1, ...
  std::vector<std::string> inputs = {};  // NOLINT(readability-redundant-member-init)
};

namespace cells {

/// A borrowed callable: gives the results of a function for these inputs.
struct FunctionRef {
  const void* object;
  void (*call)(const void* object, std::span<const Expr> inputs, ExprList& results);
};

/// What a cell is, whatever the type of its function.
class ESPALIER_EXPORT Core {
 public:
  Core(std::string name, CellOptions options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// Refuses (UsageError) an outer input beyond the last.
  void require_inputs(std::size_t inputs) const;
  /// Records a use like one that the inputs' graph knows, and gives as many results as there is room for. False, and
  /// nothing recorded, where there is none.
  bool record_again(std::span<const Expr> inputs, SourceLine where, std::span<Expr> results) const;
  /// Records a use; `results` are overwritten.
  void record(std::span<const Operand> inputs, const FunctionRef& function, ExprList& results) const;

 private:
  class Uses;
  std::unique_ptr<Uses> uses_;
};

/// How the results of a function are taken apart and put together.
template <class T>
struct Results;
template <>
struct Results<Expr> {
  static constexpr std::size_t kCount = 1;
  static void take(const Expr& from, ExprList& to) { to.push_back(from); }
  static Expr give(std::span<const Expr> from) { return from[0]; }
};
template <std::size_t n>
struct Results<std::array<Expr, n>> {
  static constexpr std::size_t kCount = n;
  static void take(const std::array<Expr, n>& from, ExprList& to) {
    for (const Expr& each : from) to.push_back(each);
  }
  static std::array<Expr, n> give(std::span<const Expr> from) {
    std::array<Expr, n> result;
    for (std::size_t i = 0; i < n; ++i) result[i] = from[i];
    return result;
  }
};
template <class Tuple, std::size_t... i>
Tuple tuple_of(std::span<const Expr> from, std::index_sequence<i...>) {
  return {from[i]...};
}
template <class... Exprs>
struct Results<std::tuple<Exprs...>> {
  static constexpr std::size_t kCount = sizeof...(Exprs);
  static void take(const std::tuple<Exprs...>& from, ExprList& to) {
    std::apply([&](const auto&... each) { (to.push_back(each), ...); }, from);
  }
  static std::tuple<Exprs...> give(std::span<const Expr> from) {
    return tuple_of<std::tuple<Exprs...>>(from, std::index_sequence_for<Exprs...>());
  }
};
template <>
struct Results<std::pair<Expr, Expr>> {
  static constexpr std::size_t kCount = 2;
  static void take(const std::pair<Expr, Expr>& from, ExprList& to) { to = {from.first, from.second}; }
  static std::pair<Expr, Expr> give(std::span<const Expr> from) { return {from[0], from[1]}; }
};

template <class>
using OperandFor = Operand;

}  // namespace cells

/// A cell of so many inputs, as in Cell<Expr(Expr, Expr)>. Copies share what was compiled.
template <class Signature>
class Cell;
template <class Result, class... Inputs>
class Cell<Result(Inputs...)> {
 public:
  Cell(std::string name, std::function<Result(Inputs...)> function, CellOptions options = {})
      : function_(std::move(function)), core_(std::make_shared<cells::Core>(std::move(name), std::move(options))) {
    core_->require_inputs(sizeof...(Inputs));
  }

  /// Records a use of the cell, at the caller's line.
  Result operator()(cells::OperandFor<Inputs>... inputs) const {
    const std::array<Operand, sizeof...(Inputs)> list{inputs...};
    std::array<Expr, cells::Results<Result>::kCount> again;
    if (core_->record_again(std::array{inputs.expr()...}, list[0].where(), again))
      return cells::Results<Result>::give(again);
    ExprList results;
    core_->record(list, {this, &call<std::index_sequence_for<Inputs...>>}, results);
    return cells::Results<Result>::give(results);
  }

 private:
  template <class Numbers>
  static void call(const void* object, std::span<const Expr> inputs, ExprList& results) {
    call_numbered(*static_cast<const Cell*>(object), inputs, results, Numbers());
  }
  template <std::size_t... i>
  static void call_numbered(const Cell& cell, std::span<const Expr> inputs, ExprList& results,
                            std::index_sequence<i...>) {
    cells::Results<Result>::take(cell.function_(inputs[i]...), results);
  }

  std::function<Result(Inputs...)> function_;
  std::shared_ptr<cells::Core> core_;
};

/// A cell of any number of inputs, given as a list; it is compiled for each number that occurs.
template <class Result>
class Cell<Result(std::span<const Expr>)> {
 public:
  using Function = std::function<Result(std::span<const Expr>)>;

  Cell(std::string name, Function function, CellOptions options = {})
      : function_(std::move(function)), core_(std::make_shared<cells::Core>(std::move(name), std::move(options))) {}

  /// Records a use of the cell, at the caller's line.
  Result operator()(const Operands& inputs) const {
    std::array<Expr, cells::Results<Result>::kCount> again;
    if (core_->record_again(inputs.list(), inputs.where(), again)) return cells::Results<Result>::give(again);
    InlineList<Operand, 8> list;
    for (const Expr& input : inputs.list()) list.push_back({input, inputs.where()});
    ExprList results;
    core_->record(list, {this, &call}, results);
    return cells::Results<Result>::give(results);
  }

 private:
  static void call(const void* object, std::span<const Expr> inputs, ExprList& results) {
    cells::Results<Result>::take(static_cast<const Cell*>(object)->function_(inputs), results);
  }

  Function function_;
  std::shared_ptr<cells::Core> core_;
};

namespace cells {

/// The cell of a function object, from its call operator.
template <class F>
struct CellOf : CellOf<decltype(&F::operator())> {};
template <class R, class C, class... Inputs>
struct CellOf<R (C::*)(Inputs...) const> {
  using Type = Cell<R(Inputs...)>;
};

}  // namespace cells

/// The cell of a function; see above.
template <class F>
typename cells::CellOf<F>::Type cell(std::string name, F function, CellOptions options = {}) {
  return {std::move(name), std::move(function), std::move(options)};
}

}  // namespace espalier
