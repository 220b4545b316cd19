/// The two Python types that recording meets for every node: handles to values, and callees. They are written against
/// CPython's own interface, because a node is recorded in the time in which a general binding makes one object.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "torch_recording.h"

namespace espalier::python {

/// A result of a recorded call, for one instance. Python derives its methods from it.
struct TorchValue {
  PyObject ob_base;
  PyObject* batch;  // owned
  std::int32_t node;
  std::int32_t result;
  std::int32_t kind;
};

/// What this thread records to. Null: nothing.
struct TorchCurrent {
  PyObject* batch = nullptr;  // owned
  TorchRecording* recording = nullptr;
};

TorchCurrent& torch_current();

/// Adds the types to the module: `Value` and `Callee`.
void add_torch_types(nanobind::module_& module);

/// From now on values are of this type, which derives from `Value`, and the functions tell about PyTorch's modes:
/// whether gradients are on, any autocast, inference mode.
void set_torch_value_type(nanobind::type_object type);
void set_torch_modes(nanobind::callable grad, nanobind::callable autocast, nanobind::callable inference);

/// 0: gradients; 1: no_grad; 2: inference mode; 4 more with autocast.
std::int32_t torch_mode();

/// The results of a node of the current batch, as its callee's user gets them.
nanobind::object torch_results(const TorchSignature& signature, std::int32_t node);

/// Records a node without inputs, and gives its results.
nanobind::object torch_field_node(nanobind::handle signature, std::int64_t field);

}  // namespace espalier::python
