/// The parts of the extension module. Each function adds one of them.
#pragma once

#include <nanobind/nanobind.h>

namespace espalier::python {

void bind_errors(nanobind::module_& module);
void bind_schedule(nanobind::module_& module);
void bind_torch(nanobind::module_& module);
void bind_graph(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_ops(nanobind::module_& module);  // after bind_graph(), whose Expr gets operators
void bind_cells(nanobind::module_& module);
void bind_recursion(nanobind::module_& module);
void bind_nn(nanobind::module_& module);
void bind_optim(nanobind::module_& module);
void bind_train(nanobind::module_& module);
void bind_control(nanobind::module_& module);
void bind_onnx(nanobind::module_& module);

/// Sets the Python exception for the C++ exception that is being handled.
void set_python_error() noexcept;

/// Calls `f`, which gives a new reference, from a slot that the interpreter calls itself: null after an error.
template <class F>
PyObject* guarded(F f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

}  // namespace espalier::python
