/// The parts of the layers, and how layers record.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "espalier/espalier.h"
#include "objects.h"

namespace espalier::python {

/// A layer keeps its scope, which keeps the model.
using KeepScope = nanobind::keep_alive<1, 2>;

void bind_tree_layers(nanobind::module_& module);
void bind_sequence_layers(nanobind::module_& module);

/// A child of a tree cell, or the state of an LSTM: a State, or None for one that is missing.
nn::TreeState child_of(Call& call, nanobind::handle child);

/// Records f of one operand, in the name of a layer.
template <class F>
nanobind::object apply_layer(std::string_view name, nanobind::handle x, F f) {
  Call call(name);
  return call.wrap(f(call.operand(x)));
}

}  // namespace espalier::python
