/// A function of Python that the library calls while it records.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "objects.h"

namespace espalier::python {

/// Only one thread at a time may trace: the library holds locks of its own meanwhile, and a thread that waited for one
/// of them with the interpreter's lock would wait for ever. This lock is waited for without the interpreter's.
class TraceLock {
 public:
  TraceLock();
  ~TraceLock();
  TraceLock(const TraceLock&) = delete;
  TraceLock& operator=(const TraceLock&) = delete;
};

/// The shape of arguments or results: 'E' is an Expr, 'S' a State, and tuples and lists stand in brackets.
using Pattern = std::string;

/// Appends an argument's pattern and its operands: Exprs, States, and tuples and lists of them.
void flatten(nanobind::handle argument, Call& call, Pattern& pattern, std::vector<Operand>& operands);
/// The same for a result. Refuses anything else, in the name of `what`.
void flatten_result(nanobind::handle result, const std::string& what, Pattern& pattern, ExprList& exprs);
/// The arguments of a pattern, from these Exprs in order.
nanobind::object unflatten(const Pattern& pattern, std::span<const Expr> exprs, nanobind::handle graph);

/// The graph object of Exprs that the library gives a function: `outer` where they are of that graph, else none.
nanobind::object graph_object(std::span<const Expr> exprs, nanobind::handle outer);

}  // namespace espalier::python
