// Handles to values, and callees: recording a call of Values without a line of Python.
#include "torch_value.h"

#include <bit>
#include <cstddef>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "bind.h"
#include "structmember.h"

namespace nb = nanobind;

namespace espalier::python {

namespace {

PyTypeObject* value_type = nullptr;  // the type that Python derived; its module owns it
PyTypeObject* callee_type = nullptr;
PyObject* grad_enabled = nullptr;
PyObject* any_autocast = nullptr;
PyObject* inference_enabled = nullptr;

// A callee's signatures for calls of Values alone, by the mode and the kinds of the values. The newest is asked first.
struct Known {
  std::map<std::vector<std::int32_t>, nb::object> signatures;
  std::vector<std::int32_t> newest_key;
  TorchSignature* newest = nullptr;
  nb::object newest_object;
  nb::object lookup;         // the signature of a call of one integer, where integers are rows of a table
  bool is_constant = false;  // a call of one number makes a constant
  std::vector<std::int32_t> key;
};

struct TorchCallee {
  PyObject ob_base;
  Known* known;
};

bool says_yes(PyObject* function) {
  PyObject* answer = PyObject_CallNoArgs(function);
  if (answer == nullptr) throw nb::python_error();
  Py_DECREF(answer);  // True and False live on
  return answer == Py_True;
}

PyObject* make_value(std::int32_t node, std::int32_t result, std::int32_t kind) {
  auto* value = reinterpret_cast<TorchValue*>(value_type->tp_alloc(value_type, 0));
  if (value == nullptr) throw nb::python_error();
  value->batch = Py_NewRef(torch_current().batch);
  value->node = node;
  value->result = result;
  value->kind = kind;
  return reinterpret_cast<PyObject*>(value);
}

void free_value(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(reinterpret_cast<TorchValue*>(self)->batch);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef value_members[] = {
    {"_batch", T_OBJECT, offsetof(TorchValue, batch), READONLY, nullptr},
    {"_node", T_INT, offsetof(TorchValue, node), READONLY, nullptr},
    {"_result", T_INT, offsetof(TorchValue, result), READONLY, nullptr},
    {"_kind", T_INT, offsetof(TorchValue, kind), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot value_slots[] = {
    {Py_tp_doc, const_cast<char*>("A result of a recorded call, for one instance.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(free_value)},
    {Py_tp_members, value_members},
    {0, nullptr},
};

PyType_Spec value_spec{"espalier._core._torch.Value", sizeof(TorchValue), 0,
                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, value_slots};

// The signature of a call of these arguments, if they are Values of the current batch and it was met before.
TorchSignature* find_signature(Known& known, PyObject* arguments, const TorchCurrent& current) {
  known.key.clear();
  known.key.push_back(torch_mode());
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* argument = PyTuple_GET_ITEM(arguments, i);
    if (Py_TYPE(argument) != value_type) return nullptr;
    const auto* value = reinterpret_cast<const TorchValue*>(argument);
    if (value->batch != current.batch) return nullptr;
    known.key.push_back(value->kind);
  }
  if (known.newest != nullptr && known.key == known.newest_key) return known.newest;
  const auto found = known.signatures.find(known.key);
  if (found == known.signatures.end()) return nullptr;
  known.newest_key = known.key;
  known.newest_object = found->second;
  known.newest = nb::inst_ptr<TorchSignature>(found->second);
  return known.newest;
}

PyObject* record_values(TorchSignature& signature, nb::handle object, PyObject* arguments, TorchRecording& recording) {
  const std::int32_t node = recording.add(signature, object);
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto* value = reinterpret_cast<const TorchValue*>(PyTuple_GET_ITEM(arguments, i));
    recording.add_input({value->node, value->result});
  }
  recording.end_inputs();
  return torch_results(signature, node).release().ptr();
}

// A call of one number that is data: a row of a table, or a constant. Nothing: it is not one.
nb::object record_number(const Known& known, PyObject* argument, const TorchRecording& recording) {
  if (PyLong_CheckExact(argument)) {
    const nb::object& signature = known.is_constant ? recording.integer_signature : known.lookup;
    if (!signature.is_valid() || (!known.is_constant && torch_mode() != 0)) return {};
    const long long number = PyLong_AsLongLong(argument);
    if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return torch_field_node(signature, number);
  }
  if (known.is_constant && PyFloat_CheckExact(argument))
    return torch_field_node(recording.number_signature, std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(argument)));
  return {};
}

PyObject* record_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const TorchCurrent& current = torch_current();
    Known* known = reinterpret_cast<TorchCallee*>(self)->known;
    if (current.recording != nullptr && known != nullptr && (keywords == nullptr || PyDict_GET_SIZE(keywords) == 0)) {
      if (PyTuple_GET_SIZE(arguments) == 1)
        if (nb::object node = record_number(*known, PyTuple_GET_ITEM(arguments, 0), *current.recording);
            node.is_valid())
          return node.release().ptr();
      if (TorchSignature* signature = find_signature(*known, arguments, current); signature != nullptr)
        return record_values(*signature, known->newest_object, arguments, *current.recording);
    }
    const nb::object slow = nb::handle(self).attr("_call");
    return PyObject_Call(slow.ptr(), arguments, keywords);
  });
}

PyObject* new_callee(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  reinterpret_cast<TorchCallee*>(self)->known = new (std::nothrow) Known;
  return self;
}

int visit_callee(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (const Known* known = reinterpret_cast<TorchCallee*>(self)->known; known != nullptr) {
    for (const auto& [key, signature] : known->signatures) Py_VISIT(signature.ptr());
    Py_VISIT(known->newest_object.ptr());
    Py_VISIT(known->lookup.ptr());
  }
  return 0;
}

int clear_callee(PyObject* self) {
  delete std::exchange(reinterpret_cast<TorchCallee*>(self)->known, nullptr);
  return 0;
}

void free_callee(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_callee(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// callee._learn(mode, kinds, signature): a call of Values of these kinds is recorded with it from now on.
PyObject* learn(PyObject* self, PyObject* arguments) {
  Known* known = reinterpret_cast<TorchCallee*>(self)->known;
  int mode = 0;
  PyObject* kinds = nullptr;
  PyObject* signature = nullptr;
  if (known == nullptr || PyArg_ParseTuple(arguments, "iO!O", &mode, &PyTuple_Type, &kinds, &signature) == 0)
    return nullptr;
  std::vector<std::int32_t> key{mode};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kinds); ++i)
    key.push_back(static_cast<std::int32_t>(PyLong_AsLong(PyTuple_GET_ITEM(kinds, i))));
  known->signatures.insert_or_assign(std::move(key), nb::borrow(signature));
  Py_RETURN_NONE;
}

// callee._look_up(signature): a call of one integer is a node whose field it is.
PyObject* look_up(PyObject* self, PyObject* signature) {
  if (Known* known = reinterpret_cast<TorchCallee*>(self)->known; known != nullptr)
    known->lookup = nb::borrow(signature);
  Py_RETURN_NONE;
}

// callee._be_constant(): a call of one number is a constant of the batch.
PyObject* be_constant(PyObject* self, PyObject*) {
  if (Known* known = reinterpret_cast<TorchCallee*>(self)->known; known != nullptr) known->is_constant = true;
  Py_RETURN_NONE;
}

// callee._forget(): as new.
PyObject* forget(PyObject* self, PyObject*) {
  if (Known* known = reinterpret_cast<TorchCallee*>(self)->known; known != nullptr) *known = Known();
  Py_RETURN_NONE;
}

PyMethodDef callee_methods[] = {
    {"_learn", learn, METH_VARARGS, "Calls of Values of these kinds have this signature."},
    {"_look_up", look_up, METH_O, "Calls of one integer have this signature."},
    {"_be_constant", be_constant, METH_NOARGS, "Calls of one number are constants of the batch."},
    {"_forget", forget, METH_NOARGS, "Forgets all signatures."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot callee_slots[] = {
    {Py_tp_doc, const_cast<char*>("What can be called while a batch records. `_call` is what it cannot do alone.")},
    {Py_tp_new, reinterpret_cast<void*>(new_callee)},
    {Py_tp_call, reinterpret_cast<void*>(record_call)},
    {Py_tp_traverse, reinterpret_cast<void*>(visit_callee)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_callee)},
    {Py_tp_dealloc, reinterpret_cast<void*>(free_callee)},
    {Py_tp_methods, callee_methods},
    {0, nullptr},
};

PyType_Spec callee_spec{"espalier._core._torch.Callee", sizeof(TorchCallee), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, callee_slots};

}  // namespace

TorchCurrent& torch_current() {
  thread_local TorchCurrent current;
  return current;
}

void add_torch_types(nb::module_& module) {
  value_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&value_spec));
  callee_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&callee_spec));
  if (value_type == nullptr || callee_type == nullptr) throw nb::python_error();
  module.attr("Value") = nb::handle(reinterpret_cast<PyObject*>(value_type));
  module.attr("Callee") = nb::handle(reinterpret_cast<PyObject*>(callee_type));
}

void set_torch_value_type(nb::type_object type) { value_type = reinterpret_cast<PyTypeObject*>(type.ptr()); }

void set_torch_modes(nb::callable grad, nb::callable autocast, nb::callable inference) {
  grad_enabled = grad.release().ptr();
  any_autocast = autocast.release().ptr();
  inference_enabled = inference.release().ptr();
}

std::int32_t torch_mode() {
  std::int32_t mode = 0;
  if (!says_yes(grad_enabled)) mode = says_yes(inference_enabled) ? 2 : 1;
  return says_yes(any_autocast) ? mode + 4 : mode;
}

nb::object torch_results(const TorchSignature& signature, std::int32_t node) {
  const std::size_t count = signature.results.size();
  if (count == 1 && !signature.wrap.is_valid()) return nb::steal(make_value(node, 0, signature.results[0]));
  nb::object results = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  if (!results.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(results.ptr(), static_cast<Py_ssize_t>(i),
                     make_value(node, static_cast<std::int32_t>(i), signature.results[i]));
  return signature.wrap.is_valid() ? signature.wrap(results) : results;
}

nb::object torch_field_node(nb::handle object, std::int64_t field) {
  TorchRecording& recording = *torch_current().recording;
  auto& signature = *nb::inst_ptr<TorchSignature>(object);
  const std::int32_t node = recording.add(signature, object, field);
  recording.end_inputs();
  return torch_results(signature, node);
}

}  // namespace espalier::python
