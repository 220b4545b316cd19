// The library's exceptions as those of espalier/errors.py.
#include "bind.h"

#include <exception>
#include <new>

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

void bind_errors(nb::module_&) {
  const nb::module_ errors = nb::module_::import_("espalier.errors");
  const auto type = [&](const char* name) { return nb::object(errors.attr(name)).release().ptr(); };  // kept for good
  error_types() = {type("Error"),     type("UsageError"),    type("CellError"),
                   type("DataError"), type("ResourceError"), type("InternalError")};
  nb::register_exception_translator(translate);
}

}  // namespace espalier::python
