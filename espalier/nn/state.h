/// The states that recurrent and tree cells pass on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "espalier/base/source_line.h"
#include "espalier/cells/cell.h"
#include "espalier/graph/expr.h"

namespace espalier::nn {

/// The output h and the memory c of an LSTM cell, both [hidden]. A default-constructed state stands for a missing child
/// of a tree cell: NaryTreeLstm reads zeros in its place, ChildSumTreeLstm skips it. LstmCell refuses it as the state
/// before; use LstmCell::initial().
struct LstmState {
  Expr h, c;

  bool missing() const { return h.slot() == nullptr; }
};
using TreeState = LstmState;

/// The children of a tree node, from a braced list or a vector, with the user's source line. A view: used within the
/// call it is made for.
template <class State>
class ChildList {
 public:
  ChildList(std::initializer_list<State> list,  // NOLINT(google-explicit-constructor)
            const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : list_(list.begin(), list.size()), where_{file, line} {}
  ChildList(const std::vector<State>& list,  // NOLINT(google-explicit-constructor)
            const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : list_(list), where_{file, line} {}
  ChildList(std::span<const State> list,  // NOLINT(google-explicit-constructor)
            const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : list_(list), where_{file, line} {}
  ChildList(std::span<const State> list, SourceLine where) : list_(list), where_(where) {}

  std::span<const State> list() const { return list_; }
  SourceLine where() const { return where_; }

 private:
  std::span<const State> list_;
  SourceLine where_;
};

using Children = ChildList<TreeState>;

}  // namespace espalier::nn

/// A function of a cell or of a kind of a Recursion may return such a state: h, then c.
template <>
struct espalier::cells::Results<espalier::nn::LstmState> {
  static constexpr std::size_t kCount = 2;
  static void take(const nn::LstmState& from, ExprList& to) { to = {from.h, from.c}; }
  static nn::LstmState give(std::span<const Expr> from) { return {from[0], from[1]}; }
};
