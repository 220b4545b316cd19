/// The parts of the functions of ops, and how most of them record.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <string_view>

#include "objects.h"

namespace espalier::python {

void bind_arithmetic(nanobind::module_& module);
void bind_reductions(nanobind::module_& module);
void bind_maps(nanobind::module_& module);
void bind_losses(nanobind::module_& module);
void bind_moves(nanobind::module_& module);
void bind_rows(nanobind::module_& module);

/// Texts that bindings refer to for as long as the module lives.
const char* kept(std::string text);

inline bool is_number(nanobind::handle h) { return PyFloat_Check(h.ptr()) != 0 || PyLong_Check(h.ptr()) != 0; }
inline double number(nanobind::handle h) { return nanobind::cast<double>(h); }
inline bool is_single(nanobind::handle h) { return is_expr(h) || is_parameter(h); }

/// Records f of one operand, of two, or of a list, in the name of an op.
template <class F>
nanobind::object apply(std::string_view name, nanobind::handle x, F f) {
  Call call(name);
  return call.wrap(f(call.operand(x)));
}
template <class F>
nanobind::object apply(std::string_view name, nanobind::handle x, nanobind::handle y, F f) {
  Call call(name);
  call.look_at(x);
  call.look_at(y);
  const Operand first = call.operand(x);
  return call.wrap(f(first, call.operand(y)));
}
template <class F>
nanobind::object apply_list(std::string_view name, nanobind::handle x, F f) {
  Call call(name);
  const ExprList list = expr_list(call, x);
  return call.wrap(f(Operands(std::span<const Expr>(list.data(), list.size()), call.where())));
}

}  // namespace espalier::python
