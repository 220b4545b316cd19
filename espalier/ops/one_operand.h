/// OneOperand: for functions of one tensor that share their name with one over a list of tensors.
///
/// sum(x) adds the elements of x, sum({x, y}) adds x and y. If both took classes that a braced list can make, sum({x})
/// would be ambiguous; a template parameter takes no braced list.
#pragma once

#include <concepts>
#include <cstdint>

#include "espalier/base/source_line.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/parameter.h"

namespace espalier::ops {

template <class T>
concept OneOperand = std::same_as<T, Expr> || std::same_as<T, Operand> || std::same_as<T, Parameter>;

/// The line of the caller, as a default argument.
struct CallLine {
  explicit CallLine(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) : where(file, line) {}
  SourceLine where;
};

inline const Operand& operand_of(const Operand& x, const CallLine&) { return x; }
inline Operand operand_of(const Expr& x, const CallLine& line) { return {x, line.where}; }
inline Operand operand_of(const Parameter& x, const CallLine& line) { return {&x, line.where}; }

}  // namespace espalier::ops
