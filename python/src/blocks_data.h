/// Python objects as the data of blocks, read where they lie, and what goes between blocks and functions of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "espalier/blocks/blocks.h"
#include "espalier/blocks/dynamic_function.h"
#include "objects.h"

namespace espalier::python {

/// Any object of Python; never defined: an address of one is a PyObject*.
struct PythonObject;

/// What a block is made of in Python: functions, layers, other blocks. The library's blocks only borrow them. The
/// objects that own blocks own these too, so that the collector of cycles sees them: a function may well refer to the
/// block that calls it.
class Uses {
 public:
  /// Notes what the block that is being made uses.
  static void add(nanobind::handle object);
  /// What was noted since the last block, for the one that was made now.
  static Uses take();

  void append(nanobind::handle object);
  /// The same list, for another object.
  const nanobind::object& list() const { return list_; }
  void clear() { list_ = nanobind::object(); }

 private:
  nanobind::object list_;  // of Python; or nothing
};

/// Blocks that are made while it lives, by a function that is called when blocks are wired, note what is theirs.
class OtherUses {
 public:
  OtherUses();
  ~OtherUses();
  OtherUses(const OtherUses&) = delete;
  OtherUses& operator=(const OtherUses&) = delete;

 private:
  Uses before_;
};

/// Slots of a type whose objects have a member `uses`.
template <class T>
PyType_Slot* slots_with_uses();

/// A function of Python as one that blocks call. It gets the items of a tuple as arguments of their own.
blocks::DynamicFunction dynamic_function_of(nanobind::handle callable);
/// A function from data to data.
blocks::FunctionSpec transform_of(nanobind::handle callable, std::string label);

/// Tensors as Exprs of this graph, tuples as tuples, sequences as lists, data as they are.
nanobind::object to_python(const blocks::Output& output, nanobind::handle graph);

/// Calls `f`. An exception of a function of Python becomes the cause of the error that the blocks report.
template <class F>
decltype(auto) with_causes(F&& f);

/// The exception of a function of Python, for messages of blocks.
class PythonFailure : public std::exception {
 public:
  explicit PythonFailure(nanobind::python_error error);
  const char* what() const noexcept override { return text_.c_str(); }
  nanobind::python_error& error() { return *error_; }

 private:
  std::string text_;
  std::shared_ptr<nanobind::python_error> error_;
};

template <class T>
PyType_Slot* slots_with_uses() {
  static const traverseproc traverse = [](PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nanobind::inst_ready(self)) Py_VISIT(nanobind::inst_ptr<T>(self)->uses.list().ptr());
    return 0;
  };
  static const inquiry clear = [](PyObject* self) {
    if (nanobind::inst_ready(self)) nanobind::inst_ptr<T>(self)->uses.clear();
    return 0;
  };
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};
  return slots;
}

template <class F>
decltype(auto) with_causes(F&& f) {
  try {
    return f();
  } catch (const DataError& error) {
    try {
      std::rethrow_if_nested(error);
    } catch (PythonFailure& cause) {
      const nanobind::object type = nanobind::module_::import_("espalier.errors").attr("DataError");
      nanobind::raise_from(cause.error(), type, "%s", error.what());
    }
    throw;
  }
}

}  // namespace espalier::python

template <>
const espalier::blocks::InputType& espalier::blocks::input_type<espalier::python::PythonObject>();
