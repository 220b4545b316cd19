// The library's exceptions as Python's: UsageError is a ValueError, ResourceError a RuntimeError, and so on.
#include "bind.h"

#include <exception>
#include <initializer_list>
#include <new>
#include <string>

#include "espalier/base/error.h"

namespace nb = nanobind;

namespace espalier::python {

namespace {

struct ErrorTypes {
  PyObject* error = nullptr;
  PyObject* usage = nullptr;
  PyObject* cell = nullptr;
  PyObject* data = nullptr;
  PyObject* resource = nullptr;
  PyObject* internal = nullptr;
};

ErrorTypes& error_types() {
  static ErrorTypes types;
  return types;
}

PyObject* make_type(nb::module_& module, const char* name, const char* doc, std::initializer_list<PyObject*> bases) {
  nb::list list;
  for (PyObject* base : bases) list.append(nb::handle(base));
  const std::string full_name = std::string("espalier.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full_name.c_str(), doc, nb::tuple(list).ptr(), nullptr);
  if (type == nullptr) nb::raise_python_error();
  module.attr(name) = nb::handle(type);
  return type;
}

// Of the library, the most special first; others are left to whoever called.
void translate(const std::exception_ptr& thrown, void*) {
  const ErrorTypes& types = error_types();
  try {
    std::rethrow_exception(thrown);
  } catch (const CellError& error) {
    PyErr_SetString(types.cell, error.what());
  } catch (const UsageError& error) {
    PyErr_SetString(types.usage, error.what());
  } catch (const DataError& error) {
    PyErr_SetString(types.data, error.what());
  } catch (const ResourceError& error) {
    PyErr_SetString(types.resource, error.what());
  } catch (const InternalError& error) {
    PyErr_SetString(types.internal, error.what());
  } catch (const Error& error) {
    PyErr_SetString(types.error, error.what());
  }
}

}  // namespace

void set_python_error() noexcept {
  try {
    translate(std::current_exception(), nullptr);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown exception");
  }
}

void bind_errors(nb::module_& module) {
  ErrorTypes& types = error_types();
  types.error = make_type(module, "Error", "What every exception of espalier is.", {PyExc_Exception});
  types.usage =
      make_type(module, "UsageError",
                "The caller can fix it: a shape that does not fit, a node of a cleared graph, an unknown name.",
                {types.error, PyExc_ValueError});
  types.cell =
      make_type(module, "CellError", "The function of a cell does what only a plain function may.", {types.usage});
  types.data = make_type(module, "DataError", "Data are not what was promised: the text names the file and line.",
                         {types.error, PyExc_ValueError});
  types.resource = make_type(module, "ResourceError", "Memory, files, disks.", {types.error, PyExc_RuntimeError});
  types.internal = make_type(module, "InternalError", "A bug of espalier's own; no input reaches it.",
                             {types.error, PyExc_RuntimeError});
  nb::register_exception_translator(translate);
}

}  // namespace espalier::python
